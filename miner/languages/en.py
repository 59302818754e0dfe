"""English."""

from miner.languages.language import (
    Apostrophes,
    AttributionWords,
    Conventions,
    Headings,
    Language,
    PageWords,
    SpeechWords,
)

_CONVENTIONS = Conventions(
    marks=("double-curly", "double-straight", "single-curly", "single-straight"),
    has_dash=True,
    quotes_beside_dash=False,
    dash_closes=False,
    attribution_verbs="said|says|asked|cried|answered|replied|repeated|exclaimed|murmured|whispered|"
    "shouted|called|began|continued|added|went on|put in|remarked|muttered|returned",
    attribution_subjects=r"he|she|they|I|the \w+(?: \w+)?",
    attribution_tails=r"\w+ing\b|who\b|and\b|with\b|in a\b|as\b|his\b|her\b",
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
    "footnotes?|notes|advertisements?|by|the end|finis|end",
    last_chapter="chapter the last|conclusion|epilogue|finale",
    numerals="(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|"
    "ninth|tenth|last|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    "(?:thir|four|fif|six|seven|eigh|nine)teen(?:th)?|twent(?:y|ieth)|thirt(?:y|ieth)|"
    r"fort(?:y|ieth)|fift(?:y|ieth))(?:[- ]\w{3,8})?",
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
    footnote="(?:foot)?note",
    footnotes_title="(?:foot)?notes?",
    letter_opening=r"(?:(?:my |our )?(?:very )?(?:own )?"
    r"(?:dear|dearest|beloved|honou?r'?e?d|respected)\b.{0,60}"
    r"[,:\u2014-]\W*$|(?:sir|madam|gentlemen|messrs\.?.{0,40})[,:]\W*$)|"
    r"(?:my )?dear(?:est)? [A-Z][\w. ]{1,30}[,:;\u2014]",
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
    thought_goes_on="that|of|it|he|she|they|we|I|you|the|an?|his|her|this|how|what|so|no|there",
    write=r"wrote|written|writing|writes|inscri\w+|label\w*|entitled|headed|signed|marked|printed|"
    r"telegram|telegraphed|postscript|crossed out|advertise\w+|placards?|sign-?board|"
    "meant|(?<!no )(?<!all )(?<!any )means|implied|signified|expressed",
    write_after_subject="wrote|writes|had written",
    call_before_cry=("called",),
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
_MEN = (
    "mr sir lord master uncle father king prince count duke brother captain colonel major "
    "general lieutenant sergeant sheriff judge doctor dr squire parson vicar curate priest "
    "baronet earl monsieur signor señor don man boy gentleman fellow lad son husband nephew "
    "grandfather papa"
)
_WOMEN = (
    "mrs miss lady mistress aunt mother queen princess madame sister madam mademoiselle señora "
    "countess duchess baroness governess housekeeper nurse maid woman girl daughter wife niece "
    "widow grandmother mamma"
)
_TITLES: dict[str, str] = {word: "m" for word in _MEN.split()} | {
    word: "f" for word in _WOMEN.split()
}
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
    titles=_TITLES,
    no_nouns=frozenset("to at in with as and of who from again had was then".split()),
    adverb_endings=("ly",),
    possessive_endings=("'s", "’s"),
    determiners="[Tt]he|[Hh]is|[Hh]er|[Mm]y|[Aa]n?|[Oo]ur",
    abbreviations=("Mr", "Mrs", "Messrs", "Dr", "St", "Mme", "Mlle", "M"),
    sentence_abbreviations=("Mr", "Mrs", "Dr", "St"),
)

LANGUAGE = Language(
    code="en",
    name="english",
    conventions=_CONVENTIONS,
    headings=_HEADINGS,
    abbreviations="Mr|Mrs|Dr|St",
    page=_PAGE,
    apostrophes=_APOSTROPHES,
    speech=_SPEECH,
    attribution=_ATTRIBUTION,
)
