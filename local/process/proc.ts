import { readdirSync, readFileSync } from "node:fs";

// Promises take twenty times as long as these system calls, and /proc has a folder for each process of the machine.

/** The ids of all processes of this machine. */
export function processIds(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

/** The text of a process's file in /proc; empty if the process has ended. */
export function procFile(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** The fields of a process's stat file from its state on: state, ppid, pgrp, … */
export function statFields(pid: string): string[] {
  const stat = procFile(pid, "stat");
  // pid (comm) state ppid pgrp …; comm may hold spaces and parentheses.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
