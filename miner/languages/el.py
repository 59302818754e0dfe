"""Greek."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="el",
    name="greek",
    conventions=Conventions(
        marks=(
            "guillemets",
            "double-curly",
            "double-straight",
        ),
        has_dash=True,
        quotes_beside_dash=True,
        function_words="και το να του της η την δεν ο με που τον",
    ),
    headings=Headings(
        divisions="κεφ[άα]λαιον?|μ[έε]ρος|βιβλ[ίι]ον?|πρ[όο]λογος|επ[ίι]λογος",
        parts="μ[έε]ρος|βιβλ[ίι]ον?",
        chapter="κεφ[άα]λαιον?",
        contents="περιεχ[όο]μενα|π[ίι]ναξ(?: περιεχομ[έε]νων)?",
        no_chapter="περιεχ[όο]μενα|τ[έε]λος(?=\\W*$)",
    ),
    parts=PartWords(
        preface="πρόλογος|προλεγόμενα|εισαγωγή|προς τον αναγνώστην",
        notes="σημειώσεις|παράρτημα|γλωσσάριο",
        index="ευρετήριο",
        end="τέλος",
        imprint=r"τυπογραφείο\w*|εκδότης|εκδόσεις",
    ),
    speech=SpeechWords(
        think_inverted="σκέφτηκε|συλλογίσθη",
        write="έγραψε|έγραφε",
        write_after_comma="έγραψε|έγραφε",
    ),
)
