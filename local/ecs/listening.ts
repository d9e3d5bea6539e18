import { readdir, readFile, readlink } from "node:fs/promises";

export interface ListeningSocket {
  port: number;
  /** False when it can only be reached over `::1`. */
  ipv4: boolean;
}

async function groupMembers(pgid: number): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const members = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // pid (comm) state ppid pgrp …; comm may hold spaces and parentheses.
      const group = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2];
      return group === String(pgid) ? pid : undefined;
    }),
  );
  return members.filter((pid) => pid !== undefined);
}

async function socketInodes(pid: string): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")));
  return links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "").filter(Boolean);
}

const listenState = "0A";
const ipv6Loopback = "00000000000000000000000001000000";

async function listeners(table: "tcp" | "tcp6"): Promise<(ListeningSocket & { inode: string })[]> {
  const text = await readFile(`/proc/net/${table}`, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address, port = ""] = local.split(":");
    return state === listenState ? [{ inode, port: Number.parseInt(port, 16), ipv4: address !== ipv6Loopback }] : [];
  });
}

/** What the processes of a group listen on, or undefined where that cannot be found out (not on Linux). */
export async function listeningSockets(pgid: number): Promise<ListeningSocket[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const inodes = new Set((await Promise.all((await groupMembers(pgid)).map(socketInodes))).flat());
  const all = [...(await listeners("tcp")), ...(await listeners("tcp6"))];
  return all
    .filter(({ inode }) => inodes.has(inode))
    .map(({ port, ipv4 }) => ({ port, ipv4 }))
    .sort((a, b) => a.port - b.port);
}
