"""Finnish."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="fi",
    name="finnish",
    conventions=Conventions(
        marks=(
            "right-right",
            "guillemets-right",
            "double-curly",
            "double-straight",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="ja ei se on oli että hän niin kun minä mutta kuin",
    ),
    headings=Headings(
        divisions="luku|osa(?= (?:[ivx]+|\\d+)\\b)|(?:ensimmäinen|toinen|kolmas|neljäs|viides) osa",
        parts="(?:ensimmäinen|toinen|kolmas|neljäs|viides) osa",
        chapter_after_number="luku",
        contents="sisällys(?:luettelo)?|sisältö",
        no_chapter="sisällys|sisältö|loppu(?=\\W*$)",
        numbers=(
            "ensimmäinen",
            "toinen",
            "kolmas",
            "neljäs",
            "viides",
            "kuudes",
            "seitsemäs",
            "kahdeksas",
            "yhdeksäs",
            "kymmenes",
        ),
    ),
    parts=PartWords(
        preface="esipuhe|alkulause|johdanto|alkusanat|lukijalle|jälkilause",
        notes=r"muistutuksia|selityksiä|viittaukset|liite(?=\W*$)",
        index="hakemisto",
        advertisements="saman tekijän",
        illustrations=r"kuvat(?=\W*$)|kuvaluettelo",
        end="loppu",
        imprint="kirjapaino|kustannus|painettu",
    ),
    speech=SpeechWords(
        think_inverted="ajatteli|mietti",
        write="kirjoitti",
        write_after_comma="kirjoitti",
    ),
)
