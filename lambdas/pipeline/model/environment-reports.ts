/** Matches a variable's name at a place where the library's report always has one, so other words in capitals are not matched. */
const reported = "(?<!\\w)[\"'`]?([A-Z][A-Z0-9_]+)[\"'`]?";
/** zod's messages for a missing field, in all its versions. */
const zodAbsent = "(?:Required|Invalid input: expected [^\"'\\n]*received undefined)";

/** Reports of libraries that check the environment when an app starts; the group is the name of a missing variable. */
export const environmentReports: readonly RegExp[] = [
  // pydantic-settings; its fields are variables in lower case.
  /validation errors? for \w*(?:[Ss]ettings|[Cc]onfig(?:uration)?|[Ee]nv(?:ironment)?)\w*\n(?:.*\n){0,40}?(\w+)\n\s+[Ff]ield required \[?\(?type=/,
  // Django: django-environ, the settings' own check, python-decouple.
  new RegExp(`Set the ${reported} env(?:ironment)? var(?:iable)?`),
  /ImproperlyConfigured: The ([A-Z][A-Z0-9_]*(?:SECRET|KEY|URL|TOKEN|PASSWORD)[A-Z0-9_]*) setting must not be empty/,
  new RegExp(`UndefinedValueError: ${reported} not found`),
  // zod's issues as JSON and as Node.js prints them, and t3-env's list of them.
  new RegExp(`["']?path["']?: \\[\\s*${reported}\\s*\\],\\s*["']?message["']?: ["']${zodAbsent}`),
  // zod's errors by field, as t3-env prints them.
  new RegExp(`${reported}: \\[\\s*["']${zodAbsent}`),
  // z.prettifyError
  new RegExp(`${zodAbsent}\\s*\\n\\s*→ at ${reported}`),
  // envalid
  new RegExp(`Missing environment variables:\\s*\\n\\s*${reported}:`),
  // ajv, as in env-schema and @fastify/env
  /must have required property '([A-Z][A-Z0-9_]+)'/,
  // Joi quotes the name.
  /"([A-Z][A-Z0-9_]+)" is required/,
  new RegExp(
    `(?:[Rr]equired|[Mm]issing) (?:env(?:ironment)? )?(?:setting|variable|var|option|secret|configuration)s?(?: not found)?: ?${reported}(?![\\w.])`,
  ),
];
