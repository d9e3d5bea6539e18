import { NoPlan } from "./diagnostics.ts";

/** The maximum length of a command line in a Procfile or a manifest, in characters. */
export const commandLengthMax = 4096;

/** The error for a command line that exceeds the maximum length. */
export const tooLong = (place: string, line: string): NoPlan =>
  new NoPlan(
    "broken_manifest",
    `${place} has ${line.length} characters; a command line has at most ${commandLengthMax}. Put the commands into a script file, and call it there.`,
  );

/** One command of a shell line and the operator before it. */
interface Command {
  before: string;
  text: string;
}

const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "(": ")", "{": "}" };

/** The commands of a shell line, split at `&&`, `||`, `;`, `|`, `&` outside quotes and parentheses. */
export function commandsOf(line: string): Command[] {
  const commands: Command[] = [];
  let before = "";
  let from = 0;
  let at = 0;
  while (at < line.length) {
    const operator = /^(&&|\|\||;|\||&(?!>)|\n)/.exec(line.slice(at, at + 2))?.[0];
    if (operator !== undefined && !(at > from && /[<>]/.test(line[at - 1] ?? ""))) {
      commands.push({ before, text: line.slice(from, at).trim() });
      before = operator === "\n" ? ";" : operator;
      at += operator.length;
      from = at;
    } else at = afterWord(line, at);
  }
  commands.push({ before, text: line.slice(from).trim() });
  return commands;
}

/** The offset after the character, or after the quoted or bracketed passage, that starts at `at`. */
function afterWord(line: string, at: number): number {
  const open = line[at] ?? "";
  if (open === "\\") return at + 2;
  const close = open === "{" && line[at - 1] !== "$" ? undefined : CLOSING[open];
  if (close === undefined) return at + 1;
  for (let index = at + 1; index < line.length; index += 1) {
    if (line[index] === "\\" && open !== "'") index += 1;
    else if (line[index] === close) return index + 1;
  }
  return line.length;
}

/** The words of one command as a shell would read them, variables left as they are. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? "";
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    const end = afterWord(text, at);
    const piece = text.slice(at, end);
    word =
      (word ?? "") + (/^(['"]).*\1$/s.test(piece) && piece.length > 1 ? piece.slice(1, -1) : piece.replace(/^\\/, ""));
    at = end;
  }
  if (word !== undefined) words.push(word);
  return words;
}

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** A command taken apart: `A=b` assignments (cross-env's and env's too), the program, and the text from the program on. */
export interface Invocation {
  assignments: string[];
  program: string;
  words: string[];
  rest: string;
}

/** The program that a command runs, looking through assignments, `exec`, `env` and `cross-env`. */
export function invocationOf(text: string): Invocation {
  const assignments: string[] = [];
  let rest = text.trim();
  for (;;) {
    const [head = ""] = rawWords(rest);
    const next = rest.slice(head.length).trimStart();
    if (ASSIGNMENT.test(head)) assignments.push(head);
    else if (next === "" || !/^(exec|env|cross-env)$/.test(wordsOf(head)[0] ?? "") || next.startsWith("-")) break;
    rest = next;
  }
  const words = wordsOf(rest);
  return { assignments, program: words[0] ?? "", words, rest };
}

/** The folder in which a line's last command runs, computed from the `cd` commands before it: "" for the app's root, undefined if unknown. */
export function folderOf(line: string): string | undefined {
  const names: string[] = [];
  for (const { text } of commandsOf(line).slice(0, -1)) {
    const [program, target, more] = wordsOf(text);
    if (program === "pushd" || program === "popd") return undefined;
    if (program !== "cd") continue;
    if (target === undefined || more !== undefined || !/^(\.\/)*[\w@.-]+(\/[\w@.-]+)*\/?$/.test(target))
      return undefined;
    for (const name of target.split("/")) {
      if (name === "..") {
        if (names.pop() === undefined) return undefined;
      } else if (name !== "" && name !== ".") names.push(name);
    }
  }
  return names.join("/");
}

function rawWords(text: string): string[] {
  let end = 0;
  while (end < text.length && !/\s/.test(text[end] ?? "")) end = afterWord(text, end);
  return end === 0 ? [] : [text.slice(0, end)];
}

const BUILTIN =
  /^(if|for|while|until|case|function|cd|export|set|source|\.|eval|\(|\{|!|\[|exit|wait|trap|:|true|false)$/;

/** The line with its last command replacing the shell, so that the app itself gets SIGTERM. */
export function execLast(line: string): string {
  const commands = commandsOf(line);
  const last = commands.at(-1);
  if (
    last === undefined ||
    last.text === "" ||
    last.before === "|" ||
    commands.some(({ text }) => /^(if|for|while|until|case)\b/.test(text))
  ) {
    return line;
  }
  if (/^[({]/.test(last.text)) return line;
  const { assignments, program, rest } = invocationOf(last.text);
  if (program === "" || BUILTIN.test(program)) return line;
  const environment = assignments.length === 0 ? "" : `env ${assignments.join(" ")} `;
  return `${line.slice(0, line.lastIndexOf(last.text))}exec ${environment}${rest}`;
}
