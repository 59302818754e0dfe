"""Portuguese."""

from miner.languages.language import (
    AttributionWords,
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    PartWords,
    PeopleWords,
    SpeechWords,
    with_endings,
    with_genders,
)

LANGUAGE = Language(
    code="pt",
    name="portuguese",
    conventions=Conventions(
        marks=("guillemets", "double-curly", "double-straight"),
        has_dash=True,
        quotes_beside_dash=False,
        function_words="o a que de os não uma com do da para se",
    ),
    headings=Headings(
        divisions="cap[íi]tulo|livro|parte|prólogo|volume",
        parts="livro|parte",
        chapter="cap[íi]tulo",
        contents="[ií]ndice(?: dos cap[ií]tulos)?|taboa",
        no_chapter=r"[íi]ndice|fim(?=\W*$| d[aeo]\b)|obras do mesmo|do mesmo auct?or|"
        r"erratas?|cat[áa]logo(?=\W*$)|notas(?=\W*$)",
        last_chapter="conclus[ãa]o|epílogo",
        numbers=(
            "primeir[oa]",
            "segund[oa]",
            "terceir[oa]",
            "quart[oa]",
            "quint[oa]",
            "sext[oa]",
            "s[ée]p?tim[oa]",
            "oitav[oa]",
            "non[oa]",
            "d[ée]cim[oa]",
        ),
        last="[úu]ltim[oa]",
        article="a|o",
    ),
    page=PageWords(
        transcriber_note=r"Notas? (?:de|do|da) (?:trans\w+|editor\w*|revis\w+)|"
        "Lista de erros corrigidos",
        captions=("Ilustra",),
        picture="ilustra|imagem|capa|frontispício|retrato|mapa d",
        ornament="ornamento|vinheta|decoração|separador|asteriscos",
        end_line="Fim do (?:Projecto|Projeto|Project)",
        credits="Produzido por|Este (?:livro|texto) foi",
        footnote="Nota",
        footnotes_title="Notas?",
        letter_opening="(?:(?:meu|minha|meus|minhas) )?(?:muito )?(?:querid[oa]s?|car[oa]s?|"
        r"prezad[oa]s?|estimad[oa]s?|amad[oa]s?)\b.{0,60}[,:;!—]\W*$|(?:(?:ex|"
        r"ill)\.?(?:mo|ma)\.? )+s(?:r|enhor)a?\b.{0,40}[,:.]\W*$",
        letter_closing=r"\b(?:teu|tua|seu|sua|vosso|vossa) (?:\w+[ ,]+){0,4}(?:amig[oa]|"
        "afilhad[oa]|do c(?:oração)?|dedicad[oa]|creado|criado|obrigad[oa]|"
        r"devotad[oa]|que (?:te|o|a) (?:ama|estima|abraça))\b|\bde v\. ?ex\.?",
    ),
    parts=PartWords(
        preface="pr[óo]logo|pref[áa]cio|introduc[çc]?[çc][ãa]o|advert[êe]ncia|ao leitor|"
        r"aos leitores|nota d[oa] (?:autor|editor|tradutor|\d.{0,3} edição)|posf[áa]cio|"
        "duas palavras",
        writers=r"auc?tor\b|editor\b|traduc?tor|edição",
        front=r"nota(?=\W*$)|dedicat[óo]ria|personagens(?=\W*$)",
        notes=r"notas(?=\W*$)|ap[êe]ndice|glossario|glossário|erratas?",
        index="[íi]ndice (?:alphabetico|alfab[ée]tico|remissivo)",
        advertisements="obras d[oa]s? (?:mesm[oa]s? )?auc?tor|do mesmo auc?tor|catalogo|catálogo|"
        "obras (?:de|do)",
        illustrations="[íi]ndice das (?:gravuras|estampas|illustra[çc][õo]es)|(?:gravuras|estampas|"
        r"illustra[çc][õo]es)(?=\W*$)",
        frontispiece="frontispicio|frontispício",
        end="fim(?: d[oae]s? .{0,50})?",
        imprint=r"typographia|tipografia|typ\. d|imprensa|impress[oa]|livraria|editor(?:es|a)?|"
        "direitos reservados|grosso vol",
    ),
    speech=SpeechWords(
        think_inverted="pens(?:ou|ei|ava|ara)|reflec?t(?:iu|ia|i)|"
        r"(?:disse|dizia) (?:\w+ )?(?:com[ms]igo|consigo|commigo|(?:de si )?para si)",
        think_before="pens(?:ou|ei|ava|ando)|(?:disse|dizia) (?:comsigo|consigo|commigo|comigo)",
        aloud="em voz alta|alto",
        salutation="(?:(?:meu|minha|meus|minhas) )(?:muito )?(?:querid[oa]s?|car[oa]s?|"
        r"prezad[oa]s?|estimad[oa]s?)\b[^.!?»”\"]{0,40}?|(?:querid[oa]s?|"
        r"prezad[oa]s?) [^.!?»”\"]{0,40}?",
        letter_words="carta|bilhete|linhas|telegramma|telegrama|escreveu|escripto|escrito|"
        "leu|lia|dizia assim|lettreiro|letreiro|annuncio|anúncio",
        first_person={
            **with_endings(
                "accrescent acrescent afirm affirm atalh balbuci brad confess concord continu "
                "declar exclam expliqu grit indagu murmur observ pens pergunt ponder repliqu "
                "retruqu suspir torn",
                ("ei", "ou"),
                ("ei-lhe", "ou-lhe"),
            ),
            **with_endings("respond", ("i", "eu"), ("i-lhe", "eu-lhe")),
            **with_endings("acud insist repet retorqu redargu", ("i", "iu"), ("i-lhe", "iu-lhe")),
            "interrompi": "interrompeu",
            "interrompi-o": "interrompeu-o",
        },
    ),
    attribution=AttributionWords(
        continue_verbs=frozenset(
            "continuou acrescentou proseguiu prosseguiu ajuntou repetiu concluiu continuava "
            "accrescentou".split()
        ),
        answer_verbs=frozenset("respondeu replicou retorquiu redarguiu retrucou volveu".split()),
        subjects=with_genders(
            men="ele elle este aquele aquelle",
            women="ela ella esta aquela aquella",
            narrator="eu nós",
            group="eles elles elas ellas todos",
        ),
        personal={"ele": "m", "elle": "m", "ela": "f", "ella": "f"},
        narrator=frozenset("eu me mim meu minha".split()),
        titles=with_genders(
            "senhor sr padre tio irmão cavalheiro conde marquês marquez rei doutor dr homem filho "
            "rapaz velho menino conego abbade",
            "dona senhora sr.ª madre mãe tia irmã condessa marqueza rainha mulher filha rapariga "
            "velha menina criada",
        ),
        no_nouns=frozenset(
            "a ao á à com em de do da dos das no na e para por que sem sobre como quando entre "
            "desde ou mas n d".split()
        ),
        determiners="[Oo]|[Aa]|[Uu]ma?|[Oo]s|[Aa]s|[Mm]eu|[Mm]inha|[Ss]eu|[Ss]ua",
        noun_genders={"o": "m", "a": "f", "um": "m", "uma": "f"},
        adjectives=frozenset("bom boa pobre velho velha grande mesmo mesma outro outra".split()),
        abbreviations=("Sr", "sr", "Sra", "D", "dr", "Dr"),
        sentence_abbreviations=("Sr", "sr", "Sra", "D", "dr", "Dr"),
        drops_subjects=True,
        elides=True,
    ),
    people=PeopleWords(
        says="disse|disse-lhe|disse-me|respondeu|respondi|perguntou|perguntei|exclamou|acudiu|"
        "replicou|murmurou|gritou|bradou|tornou|continuou|interrompeu|observou|repetiu|atalhou|"
        "accrescentou|acrescentou|concluiu|insistiu|balbuciou|assentiram|assentiu",
    ),
    titles=BookTitles(
        articles="os?|as?|uma?",
        volumes="volume|vol|tomo|parte|livro",
        numbers="primeir[oa]|segund[oa]|terceir[oa]|quart[oa]|quint[oa]|um|dois|tres|quatro|cinco",
        endings="(?:nova |segunda )?edicao(?: illustrada| ilustrada| completa)?|"
        r"ill?ustrad[oa]|complet[oa]|em \w+ (?:volumes|tomos|partes)|romance|"
        "conto|novella|(?:episodios?|scenas) (?:d[aeo] )?.*",
        alternatives="ou",
    ),
)
