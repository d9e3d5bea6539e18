const tokenPrefixes =
  "npm|gsk|hf|lin_api|ntn|gh[opsur]|github_pat|glc|glsa|dckr_pat|figd|sl[ksp]|shp(?:pa|ca|at|ss)|[sr]k_(?:live|test)|vc[piark]|cfk|cfut|cfat|ops|do[opr]_v1|sb_secret";

/**
 * A fast, linear pre-filter that matches more than the rules do. Only matching lines are checked against the rules, so a
 * large archive needs one pass. Each alternative starts with text that is rare in source code and looks back from there,
 * which is several times faster than one alternative per prefix.
 */
export const suspicion = new RegExp(
  [
    `_(?<=\\b(?:${tokenPrefixes})_)\\w{6}`,
    "_authToken=",
    "-(?<=\\b(?:xox[abposr]|xapp|sk|glpat|tskey|key)-)[\\w-]{16}",
    "-(?:oauth-basic|AgEIcHlwaS)",
    "\\.(?<=\\b(?:SG|hvs|hvb|hvr)\\.)\\w{8}",
    "\\.slack\\.com",
    ":(?:AA[\\w-]{30}|//[^\\s/:@'\"]{0,100}:[^\\s/@'\"]{1,200}@)",
    "\\bA(?:KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA|3T[A-Z0-9])[A-Z0-9]{16}",
    "AIza[\\w-]{35}|AccountKey=|GOCSPX-[\\w-]{20}",
    "\\b(?:SK[0-9a-f]{32}|[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.)",
    "PRIVATE KEY",
    "api(?<=\\bdapi)[a-fA-F0-9]{32}",
    "(?:WS|ws)(?<=[Aa](?:WS|ws))_?.{0,8}(?:SECRET|secret|Secret)",
  ].join("|"),
  "g",
);

/** Kinds of secrets that the rule set misses, or finds in too few formats. */
export const ownRules: readonly { rule: string; pattern: RegExp }[] = [
  { rule: "aws/AccessKeyID", pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { rule: "google/APIKey", pattern: /\bAIza[\w-]{35}(?![\w-])/g },
  { rule: "google/OAuthClientSecret", pattern: /\bGOCSPX-[\w-]{28}(?![\w-])/g },
  { rule: "slipway/Key", pattern: /\bsl[kps]_[0-9a-z]{24,}\b/g },
  { rule: "azure/StorageAccountKey", pattern: /AccountKey=[A-Za-z0-9+/]{86}==/g },
  { rule: "twilio/APIKey", pattern: /\bSK[0-9a-f]{32}\b/g },
  { rule: "telegram/BotToken", pattern: /\b\d{8,10}:AA[\w-]{33}(?![\w-])/g },
  { rule: "mailgun/APIKey", pattern: /\bkey-[0-9a-f]{32}\b/g },
  { rule: "digitalocean/Token", pattern: /\bdo[opr]_v1_[a-f0-9]{64}\b/g },
  { rule: "supabase/SecretKey", pattern: /\bsb_secret_[\w-]{22,}/g },
  { rule: "pypi/Token", pattern: /\bpypi-AgEIcHlwaS[\w-]{50,}/g },
  { rule: "discord/BotToken", pattern: /\b[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w.-])/g },
  { rule: "openai/APIKey", pattern: /\bsk-(?:proj|svcacct|admin)-[\w-]{60,}/g },
];

const PLACEHOLDER =
  /example|sample|placeholder|dummy|fake|changeme|change[-_]me|replace|your[-_]?|insert|redacted|todo|xxxx|\*\*\*\*|\.\.\.|<[^>]*>|\$\{|\{\{|%s|(.)\1{6}|1234567890|0123456789|abcdefgh|4eC39HqLyjWDarjtT1zdp7dc/i;
const WEAK_PASSWORD =
  /^(p[a@]ss(w([o0]r)?d)?\d*|pwd|secret|root|admin|user(name)?|test(ing)?|demo|dev|local|postgres|mysql|mongo|redis|guest|default|foo|bar|abc|\d{1,6}|db|database|app|me|token|key|x+|docker|toor|mypassword|mysecretpassword|\[.*\]|:.*)$/i;

/** True for a placeholder, or for a password of a database on the developer's own machine. */
export function isPlaceholder(value: string): boolean {
  const address = /:\/\/([^\s/:@]*):([^\s/@]*)@([^\s/:?'"]*)/.exec(value);
  if (address === null) return PLACEHOLDER.test(value);
  const [, user = "", password = "", host = ""] = address;
  if (password === user || WEAK_PASSWORD.test(password) || PLACEHOLDER.test(password)) return true;
  return !host.includes(".") || /^(localhost|127\.|0\.0\.0\.0|host\.docker\.internal)|example\./.test(host);
}
