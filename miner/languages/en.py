"""English."""

from miner.languages.language import (
    Apostrophes,
    AttributionWords,
    BookTitles,
    Conventions,
    Headings,
    Language,
    PageWords,
    PartWords,
    PeopleWords,
    SpeechWords,
    with_genders,
)

_CONVENTIONS = Conventions(
    # The last ones are those of foreign printers, and of chapters that somebody translated.
    marks=("double-curly", "double-straight", "single-curly", "single-straight", "guillemets")
    + ("guillemets-inward", "low-high", "low-right"),
    has_dash=True,
    quotes_beside_dash=False,
    function_words="the and of to that was with his her for had not",
)

_HEADINGS = Headings(
    divisions="chapter|chap|book|part|volume|stave|letter|canto|adventure|phase|epilogue|prologue|"
    "preface|introduction|conclusion|prelude|finale|postscript|foreword|section",
    parts="part|book|volume|phase|epoch",
    chapter=r"chapter|chap\.",
    contents="(?:table of |detailed )?contents|(?:list of )?illustrations|"
    "list of (?:plates|chapters)|chapter titles",
    no_chapter="(?:table of |detailed )?contents|illustrations|index|"
    "list of (?:illustrations|plates|chapters)|"
    r"footnotes?|notes|advertisements?|by(?=\W*$)|the end|finis|end",
    last_chapter="chapter the last|conclusion|epilogue|finale",
    numbers=(
        "one|first",
        "two|second",
        "three|third",
        "four(?:th)?",
        "five|fifth",
        "six(?:th)?",
        "seven(?:th)?",
        "eighth?",
        "nine|ninth",
        "ten(?:th)?",
        "eleven(?:th)?",
        "twelve|twelfth",
        "thirteen(?:th)?",
        "fourteen(?:th)?",
        "fifteen(?:th)?",
        "sixteen(?:th)?",
        "seventeen(?:th)?",
        "eighteen(?:th)?",
        "nineteen(?:th)?",
    ),
    tens=(
        "twent(?:y|ieth)",
        "thirt(?:y|ieth)",
        "fort(?:y|ieth)",
        "fift(?:y|ieth)",
        "sixt(?:y|ieth)",
        "sevent(?:y|ieth)",
        "eight(?:y|ieth)",
        "ninet(?:y|ieth)",
    ),
    last="last",
    article="the",
)

_PAGE = PageWords(
    credits="Produced by|E-?text (?:prepared|produced|transcribed|scanned|revised)|"
    "(?:This|The) e-?(?:text|book) (?:was|is)|Transcribed (?:from|by)|"
    r"(?:HTML|Text) (?:version|file|formatting)|(?:Scanned|Digiti[sz]ed) (?:and|at|by|from)\b|"
    r"Special thanks (?:are|go|to)\b|Many thanks to\b|This (?:file|book content) was|"
    "Online Distributed Proof|Every attempt has been made to replicate the original",
    transcriber_note="Transcriber[’']?s?[’']?s? (?:end )?notes?|Transcribers[’'] notes?|"
    r"Transcription notes?|Note of the transcriber|A Note on the Text\b|\[Redactor",
    captions=("Illustrat", "Image"),
    picture="illustrat|image|picture|photo|portrait|engraving|drawing|cover|frontis|title[- ]?page|"
    "map of|plate|logo|colophon|publisher|initial|drop[- ]?cap|enlarge|book spine|end ?paper",
    ornament="ornament(?:al)?|decorat(?:ive|ion|ed)|head-?piece|tail-?piece|vignette|fleuron|"
    "flourish|divider|separator|(?:scene|section|thought|text)[- ]break|asterisms?|asterisks|"
    "stars|dinkus|doodad|rule|line",
    footnote="(?:foot)?note",
    footnotes_title="(?:foot)?notes?",
    letter_opening=r"(?:(?:my |our )?(?:very )?(?:own )?"
    r"(?:dear|dearest|beloved|honou?r'?e?d|respected)\b.{0,60}"
    r"[,:\u2014-]\W*$|(?:sir|madam|gentlemen|messrs\.?.{0,40})[,:]\W*$)|"
    r"(?:my )?dear(?:est)? [A-Z][\w. ]{1,30}[,:;\u2014]",
    letter_closing=r"\byours,? (?:very |most |ever )*(?:affectionately|faithfully|truly|sincerely|"
    r"respectfully|obediently|etc|&c|ever)\b|\byours,? (?:etc|&c)|\bi remain,|"
    r"\bi am, (?:my )?dear\b|\bi am, (?:sir|madam), (?:your|&c|etc)|"
    r"\byour [\w, ]{0,30}(?:humble|obedient|faithful)[\w, ]{0,20} servant\b|\bwell-wisher\b|"
    r"\byour (?:affectionate|loving|devoted|sincere|obedient) \w+,\W*\w*\W*\w*\W*$",
)

_PARTS = PartWords(
    preface="(?:an? |the )?(?:(?:author(?:ess)?|translator|editor|publisher)s?[’']?s? |"
    "general |critical |biographical |historical |introductory |preliminary |"
    "prefatory |short |brief |original |second |first |new )*(?:preface|"
    "introduction|foreword|fore-word|afterword|introductory (?:note|remarks|essay|"
    "letter|epistle)|preliminary (?:note|remarks|word)|prefatory (?:note|remarks|"
    "letter))|(?:an? |the )?(?:author|translator|editor|"
    "publisher)s?[’']?s? (?:note|apology|advertisement|address|remarks|"
    "to the reader)|(?:advertisement|note|apology) (?:by|to|from|of) the (?:author|"
    r"editor|translator|first|second|third|reader)|to (?:the|my) readers?(?=\W*$|"
    " of)|(?:postscript )?in lieu of (?:a )?preface|a (?:word|note) to the reader|(?:concluding|"
    "closing) remarks|memoir of the author|(?:biographical|"
    "bibliographical) (?:note|notice|sketch|memoir)|(?:note|preface) (?:to|"
    r"on) (?:the )?(?:\w+ ){0,2}edition|note on the (?:author|text)|about the author",
    writers=r"authors?\b|author[’']s|translator|editor|publisher|edition",
    front=r"dedicat(?:ion|ory)|(?:list of |the )?(?:principal )?characters(?=\W*$| in| of)|"
    r"dramatis person(?:ae|æ)|persons of the|editorial note|copyright|note(?=\W*$)|to\b",
    notes="(?:original )?transcriber[’']?s? note|(?:end-?|foot-?|editor[’']?s? |explanatory )?notes"
    r"(?=\W*$| to\b| on\b| by\b|[:.])|notes? to chapter|footnotes?(?=\W*$)|appendi(?:x|ces)|"
    r"(?:a )?glossary|errat(?:a|um)|corrigenda|vocabulary(?=\W*$)|abbreviations(?=\W*$)|"
    r"bibliography(?=\W*$)",
    index=r"(?:general )?index(?=\W*$| of\b| to\b)",
    advertisements=r"(?:advertisements?|advertisment)(?=\W*$)|(?:other |more |some )?(?:books|"
    "novels|works|stories|tales|volumes|titles) (?:by|of|from) (?:the same|this|mr|"
    r"mrs|miss)\b|by the same (?:author|writer)|(?:recent|new|popular|"
    r"other) (?:books|novels|publications|fiction)\b|(?:catalogue|list) of (?:books|"
    "works|publications|novels)|uniform with this|publish(?:ed|ers) (?:by|of)|"
    "press notices|opinions of the press",
    illustrations="(?:the |a )?(?:list of )?(?:the )?(?:full-page |colou?red |"
    r"principal )?(?:illustrations|plates|pictures|drawings|maps)(?=\W*$|\W+(?:page|"
    "by|in))",
    frontispiece="frontispiece",
    end="the end|finis|end|(?:the )?end of (?:the )?(?:story|book|tale|novel|volume|"
    r"vol|part|first|second|third)\b.{0,40}",
    imprint="printed (?:in|by|at|and)|reprinted|press of|all rights reserved|copyright(?:ed)? by|"
    r"publishers,|(?:&|and) (?:co|sons)\.|ltd|paternoster row|post ?free|net\.|"
    "cloth (?:gilt|boards|extra)|wherever books are sold",
)

_APOSTROPHES = Apostrophes(
    elided="t(?:is|was|were|will|would|wixt|wasn|isn|ain|ween|other)|em|un|cause|cos|coz|bout|cept|"
    "fraid|gainst|mid|mong|neath|nother|nough|nuff|pon|scuse|spose|specially|spect|ud|ome|ole|"
    "ouse|orse|ope|ead|eart|eaven|ands|andsome|ard|ave|ell|ow|n|d|s|ll|re|ve|ee|bus|rickshaws?|"
    r"lection|pinion|(?:twen|thir|for|fif|six|seven|eigh|nine)ty-\w+",
    elided_small="im|er|ere|ad|as|fore|gin|long|most|round|self|stead|way|vise|old|and|is|m|o|a|"
    "i|t",
    # "t' sound o' t' gospel", "goin' on"
    clipped=r"th?|o|i|an?|wi|ha|fro|yo|d|ol|mo|\w{2,}in",
)

_SAY = (
    "sa(?:y|ys|id|ying)|cr(?:y|ies|ied|ying)|ask(?:s|ed|ing)?|repl(?:y|ies|ied|ying)|"
    "answer(?:s|ed|ing)?|exclaim(?:s|ed|ing)?|whisper(?:s|ed|ing)?|murmur(?:s|ed|ing)?|"
    "mutter(?:s|ed|ing)?|repeat(?:s|ed|ing)?|shout(?:s|ed|ing)?|call(?:s|ed|ing)? out|"
    "add(?:s|ed|ing)?|return(?:ed|ing)|remark(?:s|ed|ing)?|echo(?:ed|ing)?|beg(?:an|in|ins)|"
    "sings?|sang|singing|roar(?:ed|ing)|scream(?:ed|ing)|retort(?:ed|ing)|observed|continued|"
    "growl(?:ed|ing)|went on|put in|inquired|demanded|declared|announced|protested|responded|"
    "gasp(?:ed|ing)|ejaculated|sigh(?:ed|ing)|yell(?:ed|ing)|stammer(?:ed|ing)|told|"
    "explain(?:s|ed|ing)?|interrupted|interposed|faltered|screech(?:ed|ing)|quoted|"
    "(?:cr(?:ied|ying)|call(?:ed|ing)|shout(?:ed|ing)|sang|read) (?:out|aloud|back)|"
    "kept (?:repeating|saying|crying|asking|shouting)|"
    "(?:cry|cries|shouts?|murmurs?|exclamations?) of"
)
# Whom narrators cite, in the present tense: "as the proverb says".
_AUTHORITY = (
    r"(?:the|that|an?|our) (?:\w+ ){0,2}?(?:proverb|adage|saying|saw|maxim|poet|psalmist|preacher|"
    "prophet|apostle|scriptures?|bible|gospel|catechism|song|ballad|hymn|philosopher|sage|moralist|"
    "fabulist|historian|fable|epitaph)"
)
_SPEECH = SpeechWords(
    say=_SAY,
    speakers="he|she|they|I|we|it|you",
    noun_openers="the|his|her|my|old|young|poor",
    adverb=r"\w+ly",
    unsaid=r"\b(?:would|might|should)(?: have| always| often| sometimes| then| never| perhaps)* "
    rf"(?:{_SAY})(?:\s+(?:to|of|him|her|them|himself|herself|\w+ly)\b)*|"
    rf"\b(?:not going|wished|wanted|longed|used|ought|about) to (?:{_SAY})(?: to \w+)?|"
    rf"\bwhy (?:did|does|do|had) \w+ not (?:{_SAY})",
    unsaid_hints=("would", "might", "should", " to ", "hy "),
    think="thought|thinks|thinking|reflected|wondered",
    think_suffix=r" to \w+self",
    thinkers="he|she|they|I|we",
    aloud="aloud",
    thought_goes_on="that|of|it|he|she|they|we|I|you|the|an?|his|her|this|how|what|so|no|there",
    write="wrote|written|writing|writes|signed|postscript|crossed out",
    write_after_subject="wrote|writes|had written|(?<=it )ran|(?<=letter )ran",
    inscribe=r"inscri\w+|label\w*|headed|marked|printed|telegram|telegraphed|advertise\w+|placards?|"
    "sign-?board|stamped|engraved|chalked|lettered",
    inscribe_after="(?:(?:was|were|is|stood) )?(?:carved|chalked|embroidered|engraved|inscribed|"
    "lettered|painted|printed|scrawled|stamped|written) (?:above|across|at|in|on|over|upon)",
    message_told=r"\b(?:telegram|telegraph|dispatch|despatch|cablegram|note|placard|notice|card|"
    r"inscription|label|advertisement|paragraph|article|epitaph)\b[^.!?]{0,60}\b(?:was|were|ran|read|said)\b[^.!?]{0,30}"
    r"\b(?:short|brief|curt|terse|laconic|simple|as follows|thus|to the point)",
    denote="entitled|meant|(?<!no )(?<!all )(?<!any )means|implied|signified|expressed",
    cite=rf"(?:says|saith|runs|goes|sings|writes|has it|observes|remarks) {_AUTHORITY}",
    read_aloud=r"aloud|read(?:ing)? out|read(?:ing)? (?:\w+ ){0,2}to|dictat\w+|recit\w+",
    perform=r"s[aiu]ngs?|singing|sing|recit\w+|chant(?:s|ed|ing)|humm(?:ed|ing)|intoned|carol\w+|"
    r"troll(?:s|ed|ing)|declaim\w+|struck up|ditty|chorus\w*|read (?:aloud|out)|repeat(?:s|ed|ing)|"
    r"quot(?:ed|ing)",
    cited=rf"{_AUTHORITY} (?:says|saith|runs|goes|sings|writes|has it|observes|remarks)",
    call_before_cry=("called",),
    adjunct=r"\w+ing|\w+ly|with|without|in|at|from|to|as|after|before|when|while|for|his|her|who|"
    r"half|still|not|one|an?|the|though|so far|rather|quite|very|and (?:\w+(?:ed|ing)|with|in|as)",
    before_quotation="an?|the|his|her|their|its|my|your|our|this|that|these|those|of|one|no|every|"
    "each|such|another|called|as|word|phrase|term",
    abbreviations="Mrs?|Dr|St",
    salutation=r"(?:(?:my|our) )?(?:own |very )*(?:dear|dearest|beloved|honou?red)\b"
    r"(?:(?:Mrs?|Dr|Messrs|St)\.|(?!,['’])[^.!?”\"]){0,40}?",
    title_alone="sir|madam",
    letter_words="letter|note|lines|epistle|telegram|wrote|written|writing|contents|as follows|"
    "postscript|advertisement|read",
    # "(with a sigh)", "(turning to her)"; not "(if you please)", which is the speaker's own
    aside=r"(?:(?:very|rather|half|still|again|then|and|but|here) )?"
    "(?:(?:address|bow|blush|dispers|draw|glanc|hesitat|hold|laugh|look|lower|nod|paus|point|press|"
    "rais|recollect|return|ris|seiz|shak|sigh|smil|speak|start|stopp|tak|throw|turn|whisper|"
    r"wip)\w*ing\b|with (?:an?|his|her|great|some|the utmost|much)\b|in (?:an?|his|her) \w+|"
    r"to (?:Mrs?\.|Miss|[A-Z]\w+,?\))|aside|\w+ly,?\)|as soon as (?:he|she)|after an? )"
    r"(?![^()]*\b(?:me|my|you|I|we|us|our|your)\b)",
)

_ANSWER = frozenset(
    "agreed answer answered answers assented echoed objected rejoined replied replies responded "
    "retorted returned".split()
)
# Titles, and the nouns that narration uses like them.
_MEN = (
    "mr sir lord master uncle father king prince count duke brother captain colonel major general "
    "lieutenant sergeant sheriff judge squire parson vicar curate earl monsieur signor señor don "
    "grandfather papa"
)
_WOMEN = (
    "mrs miss lady mistress aunt mother queen princess madame sister madam mademoiselle señora "
    "countess duchess baroness grandmother mamma"
)
_MALE_NOUNS = "doctor dr priest baronet man boy gentleman fellow lad son husband nephew"
_FEMALE_NOUNS = "governess housekeeper nurse maid woman girl daughter wife niece widow"


_ATTRIBUTION = AttributionWords(
    say=_ANSWER
    | frozenset(
        "add added adds admitted announced asked asks began bawled begged broke burst called calls "
        "chimed commanded concluded confessed continue continued continues cried cries cry "
        "declared demanded drawled ejaculated exclaimed explained faltered gasped groaned growled "
        "grumbled hissed inquired enquired insisted interposed interrupted laughed mumbled "
        "murmured muttered nodded observed observes ordered panted persisted piped pleaded "
        "proceeded protested pursued put quoth remarked remarks repeated repeats resumed roared "
        "sang said saith says screamed shouted shrieked sighed smiled snapped sneered sobbed spoke "
        "stammered stormed suggested told thundered urged ventured warned whispered whispers "
        "yelled".split()
    ),
    continue_verbs=frozenset(
        "add added adds again concluded continue continued continues persisted proceeded pursued "
        "repeated repeats resumed".split()
    ),
    answer_verbs=_ANSWER,
    say_with_particle=dict.fromkeys(("went", "goes", "hurried"), "on"),
    subjects={"he": "m", "she": "f", "i": "i", "they": "t", "we": "i"},
    personal={"he": "m", "his": "m", "him": "m", "she": "f", "her": "f", "hers": "f"},
    reflexive={"himself": "m", "herself": "f"},
    narrator=frozenset(("i", "my", "me")),
    titles=with_genders(f"{_MEN} {_MALE_NOUNS}", f"{_WOMEN} {_FEMALE_NOUNS}"),
    no_nouns=frozenset("to at in with as and of who from again had was then".split()),
    adverb_endings=("ly",),
    possessive_endings=("'s", "’s"),
    determiners="[Tt]he|[Hh]is|[Hh]er|[Mm]y|[Aa]n?|[Oo]ur",
    abbreviations=("Mr", "Mrs", "Messrs", "Dr", "St", "Mme", "Mlle", "M"),
    sentence_abbreviations=("Mr", "Mrs", "Dr", "St"),
)

# The titles that stand before a name or for it. They are more than `AttributionWords` has.
_TITLES = with_genders(
    f"{_MEN} "
    "baron messrs grandpa dad daddy comte vicomte viscount marquis archdeacon bishop dean "
    "cardinal abbé friar emperor sire herr inspector constable corporal admiral commodore "
    "alderman senator deacon pa archduke sahib serjeant superintendent rector rabbi chancellor "
    "marshal milord "
    "monseigneur mister chevalier don padre doge sultan caliph pasha laird dominie bailie prefect "
    "tsar czar kaiser brigadier lordship earl pope",
    f"{_WOMEN} "
    "señorita comtesse vicomtesse marquise signora mme mlle ma mama mom mum granny grandma ms "
    "marchioness viscountess empress "
    "dame frau fräulein auntie aunty nurse milady ladyship prioress abbess duenna matron czarina "
    "missis missus signorina ma’am",
    "dr doctor professor prof rev reverend hon honourable president cousin capt col gen chief "
    "commander lieut sergt sgt serjt supt comrade citizen majesty highness excellency governor "
    "mayor chairman provost principal secretary dairyman farmer m big dear dearest good great "
    "honest little old poor sweet young",
)
_QUALITIES = frozenset("big dear dearest good great honest little old poor sweet young".split())
_FEMALE_NAMES = (
    "abigail ada adela adelaide adele adeline adèle agatha agnes alexandra alice alicia alisa "
    "alison althea amelia amy anastasia angela angelica angelina angelique ann anna annabel anne "
    "anne-marie annette antoinette antonia arabella audrey augusta aurora barbara beatrice becky "
    "belinda belle bertha bessie beth betty biddy blanche bridget caddy camilla carmen caroline "
    "cassandra catherine cathy cecilia cecily celia charity charlotte christina christine clara "
    "clarissa claudia clemency clementina clotilde constance constantia cora cordelia cornelia "
    "cynthia daisy deborah diana dinah dolly dora dorothea dorothy drusilla edith effie eileen "
    "elaine eleanor elena eliza elizabeth ella ellen elsa elsie elspeth emily emma emmeline "
    "estella estelle esther ethel etta eugenia eunice eva evangeline eve eveline evelyn fanny "
    "felicia fleur flora florence frances frieda gabrielle georgiana georgina geraldine gertrude "
    "gladys gloria grace greta griselda gwendolen hannah harriet hattie helen helena henrietta "
    "hepzibah hermia hester hetty hilda honor honora hortense ida imogen irene iris isabel "
    "isabella ivy jane janet janie jean jemima jennie jenny jessica jessie joan joanna josephine "
    "josie joyce judith judy julia juliana juliet kate katerina katharine katherine kathleen katie "
    "katy kitty laura lavinia leah lena leonora leontine letitia lettice letty lilian lilith lily "
    "lina lisa lise lizaveta lizzie lizzy lois lola loretta lottie louisa louise lucia lucie "
    "lucilla lucille lucinda lucretia lucy lydia mabel madeleine madeline madge magdalen maggie "
    "margaret margery marguerite maria marian marianne marie marietta marilla marion marjorie "
    "martha mary masha mathilde matilda maud maude may meg melissa mercy mildred millicent milly "
    "mina minna minnie miranda miriam moll molly mona monica muriel myra nan nancy naomi natalie "
    "natasha nell nellie nelly netta nora norah octavia olga olive olivia ophelia pamela patience "
    "patty paula paulina pauline pearl peggy penelope phoebe phyllis polly priscilla prudence "
    "rachel rebecca rhoda roberta rosa rosalba rosalie rosalind rosamond rosanna rose rosemary "
    "rosetta rosy rowena ruby ruth sabina sally sarah selina sibyl sibylla sonia sophia sophie "
    "sophy stella sue susan susanna susannah susie sylvia tabitha tamara tatyana teresa tess "
    "theodora theresa thomasin thérèse tilly trixie ursula valentina valentine vanessa varvara "
    "vera veronica victoria viola violet virginia vivian vivien wendy wilhelmina winifred yvonne "
    "zoe zélie"
)
_MALE_NAMES = (
    "aaron abel abner abraham adam adolphus adrian alan albert alec alexander alexis alfred "
    "algernon alistair allan allen alphonse alyosha ambrose amos andre andrew angus anselm anthony "
    "antoine anton antonio antony archibald archie armand arnold arthur asa aubrey august augustus "
    "barnaby bartholomew basil becket ben benedict benjamin bernard bertie bertram bill billy bob "
    "bobby boris brian bruce caleb cedric charles charley charlie christian christopher clarence "
    "claude clement clifford clive colin conrad cornelius cuthbert cyril cyrus daniel dave david "
    "denis dennis derek dick didier dmitri dmitry donald douglas duncan ebenezer ed eddie edgar "
    "edmund edward edwin eli elias elijah eliot emil ephraim eric ernest eugene eustace evan "
    "ezekiel ezra felix ferdinand fergus fletcher francis francois frank franklin françois fred "
    "freddy frederic frederick fritz gabriel gareth geoffrey george gerald gerard gideon gil "
    "gilbert giles godfrey graham gregory gus gustave guy harold harry harvey hector henri henry "
    "herbert herman hiram horace horatio howard hubert huck huckleberry hugh hugo humphrey humphry "
    "ian ignatius isaac isaiah ivan jack jacob jacques jake james jasper jean-baptiste jeff "
    "jeffrey jem jeremiah jeremy jerome jerry jim jimmy joe joel johann john johnny jonah jonas "
    "jonathan joseph joshua josiah jude jules julian julius justin karl kenneth konrad lambert "
    "lancelot laurence lawrence leo leon leonard leopold lewis lionel louis lucas lucian lucien "
    "ludwig luke luther léon malcolm marcus mark marmaduke martin matt matthew maurice max "
    "maximilian merlin michael miles mortimer moses nathan nathaniel ned neil nicholas nick nigel "
    "nikolai noah noel norman oliver orlando oscar osmond oswald otto owen pat patrick paul "
    "percival percy pete peter phileas philip philippe phineas pierre pitt porfiry quentin ralph "
    "randolph raoul rawdon raymond reginald rené reuben rex richard robert robin roderick rodion "
    "rodney rodolphe roger roland rollo ronald rory rudolf rudolph rufus rupert sam sammy samson "
    "samuel sancho saul sebastian septimus seth sidney siegfried silas simeon simon solomon "
    "stanley stephen steve stuart sydney ted teddy terence thaddeus theodore theophilus thomas tim "
    "timothy titus tobias toby tom tommy tony tristram ulysses uriah valentin victor vincent "
    "vladimir walter wilbur wilfred wilfrid will william willie willy winston zachary émile "
    "étienne"
)
# A given name and the short names for it.
_SHORT_NAMES = (
    "elizabeth lizzy lizzie eliza beth betty betsy betsey bess bessie bessy bet libby elsie lise "
    "lisbeth; margaret maggie meg peggy madge greta daisy margot marge margery; katharine kate "
    "katie kitty kit kathy catherine cathy katherine; william bill billy will willie willy; robert "
    "bob bobby rob robbie robin; richard dick dicky dickie rick richie; thomas tom tommy; james "
    "jim jimmy jem jamie jimmie; john jack johnny jock johnnie; joseph joe joey jos; edward ned "
    "ted teddy ed eddie eddy neddy; charles charlie charley; henry harry hal hank; frederick fred "
    "freddy freddie; francis frank; frances fanny fannie; mary molly polly may moll mollie; martha "
    "patty matty; ann anne annie nan nancy anna nannie; susan sue susy susie sukey; sarah sally "
    "sal sallie; dorothy dolly dora dot dodo; theodore theo; alexander alec alick sandy sasha; "
    "alexandra sasha; samuel sam sammy; benjamin ben benny; daniel dan danny; david davy dave; "
    "michael mike mick mickey; nicholas nick; anthony tony; andrew andy; arthur art; albert bert "
    "bertie al; bertram bertie; herbert bert bertie; augustus gus gussie; philip phil pip; peter "
    "pete; stephen steve stevie; george georgie; harriet hatty hattie; helen nell nellie nelly "
    "nelly; eleanor nell nellie nelly ellen nora; isabella bella bell isabel belle; caroline "
    "carrie lina caddy; charlotte lottie lotty; emily em emmy; emma em emmy; georgiana georgy; "
    "amelia emmy milly; mildred milly; matilda tilly matty; henrietta hetty etta; hester hetty; "
    "esther hetty; lucy lu; louisa lou louie; louis lou louie lewis; lydia liddy; jane jenny janey "
    "janet jennie; janet jenny; jennifer jenny; julia juliet jule; barbara bab babs bobbie; "
    "roberta bobbie bobby; rosamond rosy rose; rebecca becky; rachel rae; penelope pen penny; "
    "phyllis phil; patrick pat paddy; patricia pat patty; theresa tess tessie terry; josephine jo "
    "josie; joanna jo; geoffrey jeff; gerald gerry jerry; jeremiah jerry; timothy tim; tobias "
    "toby; walter wat wally walt; lawrence larry laurie; laurence larry laurie; leonard len lenny; "
    "lancelot lance; maurice morry; matthew matt mat; nathaniel nat; oliver noll; reginald reggie "
    "rex; ronald ron ronnie; rudolph rudy; silvester sil; solomon sol; vincent vince; virginia "
    "ginny; victoria vicky; winifred winnie; abigail abby; agnes aggie nessie; angelina angie; "
    "antoinette nettie; beatrice bee trix trixie; christopher kit chris; christina chris tina; "
    "clementina clem; constance connie; cornelia nelia; deborah debby; edith edie; euphemia effie; "
    "florence flo flossie florrie; gertrude gertie trudy; gregory greg; gwendolen gwen; hannah "
    "nan; hilda hildy; honora nora norah; hugh hughie; ignatius nace; jacob jake jack; jonathan "
    "jon; judith judy; katerina katya kitty; kenneth ken; lavinia vinny; leopold leo; letitia "
    "letty; lillian lily lil; madeline maddy; magdalen maggie; maximilian max; millicent milly; "
    "miriam mim; nathan nate; olivia livy; percival percy; philippa pip; ralph rafe; raymond ray; "
    "roderick rod; roger hodge; rosalind ros; samantha sam; sebastian seb; stanley stan; susannah "
    "sukey susy; sybil sib; tabitha tabby; ursula ursie; valentine val; zachary zack; antony tony; "
    "huckleberry huck; mahala hally; jemima mima; marmaduke duke; augustine austin gus; ezekiel "
    "zeke; elijah lije; ebenezer eben; barnabas barney; bernard barney; bartholomew bart batt; "
    "josiah joe; cassandra cass cassy; clarissa clara; dominick nick; guinevere gwen; hezekiah "
    "hezzy; humphrey numps; marguerite margot; meredith merry; obadiah obed; phoebe feeb; prudence "
    "prue; theodora dora theo; thomasin tamsin; wilhelmina mina minna; zebulon zeb; cedric ceddie"
)


def _nicknames(lines: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in lines.split(";"):
        name, *short = line.split()
        for word in short:
            found.setdefault(word, set()).add(name)
    return {short: frozenset(names) for short, names in found.items()}


_PEOPLE = PeopleWords(
    titles=_TITLES,
    title_spellings={
        "capt": "captain",
        "col": "colonel",
        "dr": "doctor",
        "gen": "general",
        "hon": "honourable",
        "lieut": "lieutenant",
        "mas’r": "master",
        "massa": "master",
        "m": "monsieur",
        "mlle": "mademoiselle",
        "mme": "madame",
        "mister": "mr",
        "missis": "mrs",
        "missus": "mrs",
        "prof": "professor",
        "rev": "reverend",
        "serjeant": "sergeant",
        "serjt": "sergeant",
        "sergt": "sergeant",
        "sgt": "sergeant",
        "supt": "superintendent",
    },
    qualities=_QUALITIES,
    generations=frozenset(("old", "young")),
    address=frozenset(
        "mr mrs miss ms sir madam master mistress lord lady m messrs hon honourable reverend "
        "madame ma’am monsieur mademoiselle milord milady monseigneur sire lordship ladyship "
        "majesty highness excellency brother sister comrade citizen sahib cousin "
        "secretary farmer don dame signor signora signorina señor señora señorita".split()
    ),
    noble=frozenset(
        "lady lord sir king queen prince princess duke duchess count countess comte earl baron "
        "baroness viscount viscountess vicomte marquis marchioness archduke emperor empress".split()
    ),
    wives=frozenset(("mrs", "madame")),
    daughters=frozenset(("miss", "mademoiselle")),
    surname_titles=frozenset("mr mrs miss madame mademoiselle monsieur doctor lady lord".split()),
    female_names=frozenset(_FEMALE_NAMES.split()),
    male_names=frozenset(_MALE_NAMES.split()),
    nicknames=_nicknames(_SHORT_NAMES),
    surname_endings={
        **dict.fromkeys(("ovna", "evna", "ovana"), "f"),
        **dict.fromkeys(("ovitch", "evitch", "ovich", "evich"), "m"),
    },
    no_names=frozenset(
        "a ah alas america american an and april august ay aye bible book but chapter "
        "christian christmas come dear death december devil easter eh england english europe ever "
        "fate february for france french friday gentlemen german good goodness ha hallo he "
        "hello her here his how hullo hush i i'd i'll i'm i've if indian irish it "
        "italian january july june ladies london look lord madam march may monday mr mrs my "
        "nature never no nonsense nor not november now o october oh or our paris part pooh "
        "russian saturday scotch september she sir so spanish sunday that the their "
        "then there they this thursday tuesday very volume we wednesday well what when where who "
        "why yes yet you your".split()
    ),
    never_names=frozenset(
        "adieu amen bravo christ christmas easter egad farewell gad god good-by good-bye "
        "good-evening good-morning good-night goodbye gracious halloa hallo heaven heavens hello "
        "hillo hilloa hollo holloa hooray hulloa hullo hurrah huzza jesus lawks lor providence "
        "scot".split()
    ),
    place_nouns=frozenset(
        "abbey alley association avenue bridge castle cathedral chapel church club college company "
        "cottage court farm gardens grange hall hill hotel house inn island lake lane lodge manor "
        "mill park place priory river road row school society square street terrace theatre "
        "university villa".split()
    ),
    saints=frozenset(("St.", "Saint")),
    particles="de la|de|la|le|du|des|von|van|der|di|del|da",
    of_place="of the|of",
    abbreviations="Mrs?|Ms|Dr|St|Messrs|Mme|Mlle|Prof|Capt|Col|Gen|Rev|Hon|Lieut|Serjt|Sergt|Sgt|"
    "Supt",
    clitics="ll|re|ve|em|un",
    acts="had|was|could|would|did|looked|turned|went|came|took|sat|stood|rose|felt|thought|knew|saw|"
    "made|gave|got|ran|began|shook|smiled|laughed|nodded|[a-z]+ed",
    gestures=frozenset(
        "groaned laughed nodded ordered panted sighed smiled snapped sobbed".split()
    ),
    denials=frozenset("neither never no nor not nothing".split()),
    joining=frozenset("and but for nor or whereupon".split()),
    subordinate=frozenset(
        "after although as because before how if lest since than that though till unless until "
        "what when whenever where whereas whether which while whilst who whom whose why".split()
    ),
    relative=frozenset(("who",)),
    openers=frozenset("here now presently so soon still suddenly then there thus yet".split()),
    reports=frozenset("that if whether he she it they".split()),
    before_place="in|at|into|near|through|towards?|across|around|from|for|reach|reached|leave|left|"
    "visit|via|outside|inside|beyond|of the|the",
    before_vocative="[Dd]ear|[Oo]h|O|[Ww]ell|[Yy]es|[Nn]o|[Mm]y|[Oo]ld|[Pp]oor|[Ww]hy|[Aa]h|[Yy]ou",
    nouns=with_genders(
        "admiral archdeacon attorney bachelor baker baron barrister bishop blacksmith bloke "
        "boatswain boy bridegroom brother butcher butler cabman captain cardinal carpenter "
        "chairman chap clergyman coachman colonel constable corporal count curate dean detective "
        "driver duke earl emperor farmer father fellow ferryman fisherman footman friar gamekeeper "
        "gaoler gardener general gentleman grandfather grocer groom horseman host huntsman husband "
        "innkeeper inspector jailer judge king knight lad lawyer lieutenant lord magistrate major "
        "man marquis master mate mayor miller monk nephew officer parson pilot pirate policeman "
        "porter postman priest prince rector sailor schoolmaster sentry sergeant shepherd skipper "
        "smith soldier solicitor son squire steward tailor uncle vicar waiter watchman widower "
        "abbé prefect baronet",
        "abbess actress aunt baroness bride cook countess dame damsel daughter duchess gipsy girl "
        "governess grandmother heroine hostess housekeeper lady landlady lass maid maiden matron "
        "mistress mother niece nun nurse princess prioress queen sister spinster waitress widow "
        "wife witch woman",
        "accountant actor agent ambassador apparition apprentice artist author baby bandit banker "
        "beauty beggar broker burglar captive chemist chief chieftain child children clerk "
        "companion conductor consul coroner courier cousin creature dancer dealer doctor dwarf "
        "editor engineer fairy fireman foreman friend ghost giant governor guard guest gypsy heir "
        "herald hero hunter indian individual infant invalid journalist juror keeper laborer "
        "labourer latter former lover magician men merchant messenger miner minister musician "
        "negro neighbor neighbour operator page painter patient peasant peddler pedlar person "
        "philosopher physician poet president prisoner professor pupil rascal reporter rider "
        "robber rogue savage scholar scientist scoundrel scout secretary senator sentinel servant "
        "shopkeeper shopman singer slave sorcerer speaker spectre spokesman stationmaster stranger "
        "student surgeon sweetheart teacher tenant thief trader tramp trooper tutor urchin villain "
        "visitor voice warder warrior weaver witness wizard women workman youngster youth other "
        "others first second third youngest eldest younger elder crowd people",
    ),
    kin_nouns=frozenset(
        "aunt brother cousin daughter father grandfather grandmother husband lady lord "
        "master mistress mother nephew niece parent sister son uncle wife".split()
    ),
    kinship={
        **dict.fromkeys("husband wife lady bride bridegroom".split(), "spouse"),
        **dict.fromkeys("father mother parent papa mamma mama dad".split(), "parent"),
        **dict.fromkeys("son daughter".split(), "child"),
        **dict.fromkeys("brother sister".split(), "sibling"),
        **dict.fromkeys("aunt uncle auntie aunty".split(), "aunt"),
        **dict.fromkeys("nephew niece".split(), "niece"),
        **dict.fromkeys("grandfather grandmother grandpa grandma".split(), "grandparent"),
        **dict.fromkeys("grandson granddaughter grandchild".split(), "grandchild"),
        **dict.fromkeys("master mistress".split(), "master"),
        **dict.fromkeys("servant maid valet footman".split(), "servant"),
    },
    general_nouns=frozenset(
        "baby beauty boy boys chap child children companion creature elder fellow "
        "friend gentleman girl girls guest hero heroine indian individual infant lad lady "
        "lass lover maiden man men negro neighbor neighbour other others patient person prisoner "
        "rascal rogue savage speaker stranger villain visitor voice woman women youngster "
        "youth".split()
    ),
    titles_of_nouns={
        **{
            word: frozenset((word,))
            for word in (
                "abbé admiral archdeacon aunt baron baroness bishop captain cardinal colonel "
                "constable count countess curate dean doctor duchess duke earl father general "
                "grandmother inspector judge king lieutenant lord major marquis mother nurse "
                "parson president prince princess professor queen sergeant squire superintendent "
                "uncle vicar"
            ).split()
        },
        "baronet": frozenset(("sir",)),
        "detective": frozenset(("inspector", "sergeant")),
        "earl": frozenset(("earl", "lord")),
        "grandmother": frozenset(("grandmother", "granny")),
        "highness": frozenset(("prince", "princess", "duke", "duchess", "archduke")),
        "ladyship": frozenset(("lady", "countess", "marchioness", "duchess")),
        "lordship": frozenset(("lord", "earl", "marquis", "viscount")),
        "majesty": frozenset(("king", "queen", "emperor", "empress")),
        "marquis": frozenset(("marquis", "lord")),
        "physician": frozenset(("doctor",)),
        "priest": frozenset(("father",)),
        "surgeon": frozenset(("doctor",)),
    },
    calls_man="sir|father|papa|uncle|grandfather|my boy|my lad|old man|old boy|old fellow|old chap|"
    "my son|my lord|monsieur|monseigneur|your honou?r|master|mister|signor|señor|brother|captain|"
    "colonel|major|general",
    calls_woman="ma[’']?am|madam|madame|miss|mother|mamma|mama|aunt|auntie|my girl|my lady|"
    "mademoiselle|ma|mum|mummy|grandmother|my daughter|sister|missis|missus|signora|señora|"
    "signorina|milady|young lady",
    before_object="about|against|at|behind|beside|between|by|for|from|heard|in|into|like|near|of|on|"
    "over|saw|than|through|to|towards?|under|upon|with|without",
    particle_verbs=frozenset(
        "blazed blurted breaks broke burst bursts came chimed chipped comes cut flashed goes got "
        "hurried joined piped put puts ran rapped rattled rushed struck went".split()
    ),
    towards="to|towards?|at|upon|on|asked|told|addressed|addressing|answered|begged|interrupted|"
    "assured|warned|facing|reminded|informed|bade|ordered|thanked|entreated",
    tells="Journal|Diary|Narrative|Narration|['’][Ss] Story|Statement|Testimony|Deposition|"
    "Confession|Memorandum|Letters?|Telegram|(?:Told|Related|Contributed|Continued|Begun|Written|"
    "Narrated|Concluded|Resumed) By",
    names_itself="[Mm]y name(?:’s| is| was| being)|[Cc]all(?:s|ed)? me|I (?:am|was) called|"
    "named me|christened me|(?<!s )(?<!d )I,",
    numbered=frozenset(
        "first second third fourth fifth sixth last another other elder eldest younger "
        "youngest".split()
    ),
    determiners="[Tt]he|[Tt]hat|[Tt]his|[Hh]is|[Hh]er|[Mm]y|[Aa]n?|[Oo]ur|[Tt]heir|[Aa]nother|"
    "[Oo]ne|[Ss]ome",
    introducing=frozenset("a an another one some".split()),
    owning=frozenset("his her my their our".split()),
    others=frozenset(("other", "latter", "former")),
    parts=frozenset(("voice",)),
    members="one|another|some|several|both|all|first|second|third|other",
    members_of="of|among",
    picked=frozenset(
        "one another first second third fourth fifth sixth last other elder eldest oldest younger "
        "youngest tallest shortest biggest smallest boldest nearest foremost".split()
    ),
    indefinite=frozenset("one another somebody someone".split()),
    several="(?:two or three|three or four|half a dozen|a dozen|a hundred|a few|both|all|several|"
    "many|most|two|three|four|five|six|twenty)(?: of)?",
    groups="they all|they both|they|all|both|everybody|everyone",
    plurals={
        "men": "man",
        "children": "child",
        "wives": "wife",
        "thieves": "thief",
        "ies": "y",
        "ches": "ch",
        "shes": "sh",
        "sses": "ss",
        "xes": "x",
        "ss": "ss",
        "s": "",
    },
    phrase_ends=frozenset(
        "after before behind beside between beyond by for he her him his how i if into it "
        "like near next now on once or out over she so than that their them they through "
        "together too towards under up upon we when where which while without you".split()
    ),
    phrase_endings=("ing",),
    place_of_noun="of|with|in|at|from|who|on",
    naming=frozenset(("called", "named")),
    being="was|is|had been|became",
)

LANGUAGE = Language(
    code="en",
    name="english",
    conventions=_CONVENTIONS,
    headings=_HEADINGS,
    abbreviations="Mr|Mrs|Dr|St",
    page=_PAGE,
    parts=_PARTS,
    apostrophes=_APOSTROPHES,
    speech=_SPEECH,
    attribution=_ATTRIBUTION,
    people=_PEOPLE,
    titles=BookTitles(
        articles="the|an?",
        volumes="volumes?|vols?|parts?|pt|books?",
        numbers="first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|"
        "one|two|three|four|five|six|seven|eight|nine|ten",
        endings="(?:complete|unabridged|(?:slightly )?abridged|illustrated)(?: edition)?|"
        r"complete in .*|(?:the )?(?:\w+ )?edition(?: illustrated)?|in \w+ (?:volumes|parts|books)|"
        r"with .*\billustrations?\b.*|illustrated (?:by|with) .*|"
        r"(?:edited|translated|retold) (?:by|from) .*|being (?:an?|the) .*|"
        r"an?(?: \w+)? (?:novel|romance|tale|story|study|nightmare|autobiography|episode)"
        "(?: (?:of|in|for) .*)?",
        alternatives="or",
        after_surname="jr|junior|sr|senior|esq|esquire|m ?d|ph ?d|ii|iii|iv",
    ),
)
