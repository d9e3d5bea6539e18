import { readdir, readFile, readlink } from "node:fs/promises";
import { processIds, procFile, statFields } from "./proc.ts";

export interface ListeningSocket {
  port: number;
  /** As in an address: `0.0.0.0`, `127.0.0.1`, `::`, `::1`. */
  address: string;
}

function groupMembers(pgid: number): string[] {
  return processIds().filter((pid) => statFields(pid)[2] === String(pgid));
}

async function socketInodes(pid: string): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")));
  return links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "").filter(Boolean);
}

const listenState = "0A";
const mappedPrefix = "0000000000000000FFFF0000";

/** Converts an address of /proc/net/tcp: 32-bit words in the machine's byte order (Node.js runs on little-endian machines). */
function addressOf(hex: string): string {
  const bytes = hex.match(/.{8}/g)?.flatMap((word) => word.match(/../g)?.toReversed() ?? []) ?? [];
  const ipv4 = hex.startsWith(mappedPrefix) ? bytes.slice(-4) : bytes;
  if (ipv4.length === 4) return ipv4.map((byte) => Number.parseInt(byte, 16)).join(".");
  if (/^0+$/.test(hex)) return "::";
  const groups = bytes.flatMap((byte, i) =>
    i % 2 === 0 ? [`${byte}${bytes[i + 1] ?? ""}`.replace(/^0+(?=.)/, "")] : [],
  );
  const text = groups.join(":").toLowerCase();
  return text === "0:0:0:0:0:0:0:1" ? "::1" : text;
}

/** The listening sockets in the text of /proc/net/tcp or /proc/net/tcp6. */
export function parseListening(text: string): (ListeningSocket & { inode: string })[] {
  return text.split("\n").flatMap((line) => {
    // Most sockets do not listen; reading only lines that may be of one that does takes a tenth of the time.
    if (!line.includes(` ${listenState} `)) return [];
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    return state === listenState ? [{ inode, port: Number.parseInt(port, 16), address: addressOf(address) }] : [];
  });
}

async function allListeners() {
  const tables = ["tcp", "tcp6"].map((table) => readFile(`/proc/net/${table}`, "utf8").catch(() => ""));
  return (await Promise.all(tables)).flatMap(parseListening);
}

/** The sockets on which a process group listens; undefined on other systems than Linux. */
export async function listeningSockets(pgid: number): Promise<ListeningSocket[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const inodes = new Set((await Promise.all(groupMembers(pgid).map(socketInodes))).flat());
  if (inodes.size === 0) return [];
  return (await allListeners())
    .filter(({ inode }) => inodes.has(inode))
    .map(({ port, address }) => ({ port, address }))
    .sort((a, b) => a.port - b.port);
}

/** The program that listens on a port, for messages: `node (process 4242)`, or `another program` if it is unknown. */
export async function portHolder(port: number): Promise<string> {
  const unknown = "another program";
  if (process.platform !== "linux") return unknown;
  const inodes = (await allListeners()).filter((socket) => socket.port === port).map(({ inode }) => inode);
  if (inodes.length === 0) return unknown;
  for (const pid of processIds()) {
    const own = await socketInodes(pid);
    if (!inodes.some((inode) => own.includes(inode))) continue;
    const name = procFile(pid, "comm").trim();
    return `${name || unknown} (process ${pid})`;
  }
  return unknown;
}
