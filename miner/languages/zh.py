"""Chinese."""

from miner.languages.language import Conventions, Headings, Language, PartWords

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
    parts=PartWords(
        preface="序言|序|自序|前言|跋|後記|后记",
        notes="註釋|注释|附錄|附录",
        index="索引",
        end="終|终|完|全書完|全书完",
    ),
)
