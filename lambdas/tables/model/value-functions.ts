import { tableLimits } from "../../../api/tables.ts";
import { numberLengthMax } from "./exact-number.ts";
import { type InnerFunction, refuseIfLate } from "./inner-function.ts";
import { innerNames as names, untilSetting } from "./inner-names.ts";

const significantDigits = (number: string) =>
  `length(rtrim(ltrim(translate(split_part(lower(${number}), 'e', 1), '-.', ''), '0'), '0'))`;

/**
 * Whether JavaScript reads a number back as it is written. `isExactNumber` is the same rule in TypeScript. PostgreSQL
 * writes 1e23, which lies half-way between two doubles, as 9.999999999999999e+22, where JavaScript writes 1e+23: so a
 * number with fewer digits than PostgreSQL's is exact too. It is not one SQL expression, because PostgreSQL may plan a
 * function of the language sql with its argument as a constant, and then casts it before any condition is evaluated.
 */
export const floatFits: InnerFunction = {
  name: names.floatFits,
  parameters: "p_number text",
  returns: "boolean",
  language: "plpgsql",
  options: "immutable",
  body: `
declare
  written text;
begin
  if length(p_number) > ${numberLengthMax} or not pg_input_is_valid(p_number, 'double precision')
    or not pg_input_is_valid(p_number, 'numeric') then return false; end if;
  written = cast(cast(p_number as double precision) as text);
  return cast(written as numeric) = cast(p_number as numeric)
    or ${significantDigits("p_number")} < ${significantDigits("written")};
end`,
};

const longNumbers = "-?[0-9][-+.0-9eE]{15,}|-?[0-9][.0-9]*[eE][-+]?[0-9]+";
const unstorableEscape = String.raw`\\u(0000|d[89a-f])`;

/**
 * Whether a text is JSON that answers can give back whole: not null, not nested too deeply, no rounded numbers, no
 * repeated key in an object. `jsonLoss` is the same rule in TypeScript. Each pass is linear. The depth comes first,
 * because PostgreSQL's own JSON parser is recursive. Its check of keys cannot read \u0000 and unpaired
 * surrogates, so other characters replace them.
 */
export const jsonFits: InnerFunction = {
  name: names.jsonFits,
  parameters: "p_text text",
  returns: "boolean",
  language: "plpgsql",
  options: "",
  body: String.raw`
declare
  p_until bigint = cast(nullif(current_setting('${untilSetting}', true), '') as bigint);
  bare text;
  readable text = p_text;
  deepest bigint;
begin
  ${refuseIfLate}
  if length(p_text) - length(translate(p_text, '[{', '')) > ${tableLimits.jsonDepthMax} then
    bare = regexp_replace(p_text, '"(?:[^"\\]|\\.)*"', '', 'g');
    select max(level) into deepest from (
      select sum(case when one in ('[', '{') then 1 else -1 end) over (order by place) as level
      from string_to_table(regexp_replace(bare, '[^][{}]+', '', 'g'), null) with ordinality as list(one, place)
    ) as levels;
    if deepest > ${tableLimits.jsonDepthMax} then return false; end if;
  end if;
  if p_text is not json or btrim(p_text, E' \t\n\r') = 'null' then return false; end if;
  if p_text ~ '[0-9.]{15}|[0-9][eE]' then
    bare = coalesce(bare, regexp_replace(p_text, '"(?:[^"\\]|\\.)*"', '""', 'g'));
    if exists (
      select from regexp_matches(bare, '${longNumbers}', 'g') as found(number) where not "${names.floatFits}"(number[1])
    ) then return false; end if;
  end if;
  if p_text ~* '${unstorableEscape}' then
    readable = replace(readable, '\\', chr(1));
    readable = regexp_replace(readable, '\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})', E'\x02\\1\x02\\2', 'gi');
    readable = regexp_replace(readable, '\\u0000', '\\ue000', 'g');
    readable = regexp_replace(readable, '\\ud([89a-f][0-9a-f]{2})', '\\ue\1', 'gi');
    readable = replace(replace(readable, chr(2), '\u'), chr(1), '\\');
  end if;
  return readable is json with unique keys;
end`,
};
