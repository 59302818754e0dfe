"""Chinese."""

from miner.languages.language import Conventions, Headings, Language

LANGUAGE = Language(
    code="zh",
    name="chinese",
    conventions=Conventions(
        marks=(
            "corner",
            "double-corner",
            "double-curly",
            "double-straight",
        ),
        has_dash=False,
        quotes_beside_dash=True,
        function_words="",
    ),
    headings=Headings(
        divisions="第[0-9一二三四五六七八九十百零〇兩两廿卅]+[章回卷節节部]",
        parts="第[0-9一二三四五六七八九十百零〇兩两廿卅]+[卷部]",
        chapter="第[0-9一二三四五六七八九十百零〇兩两廿卅]+[章回]",
        contents="目[錄录次]",
        no_chapter="目[錄录次]",
    ),
)
