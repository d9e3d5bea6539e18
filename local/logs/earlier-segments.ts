import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { LogStore } from "./store.ts";

const storedEvent = z.tuple([z.number(), z.number(), z.string()]);

function foldersIn(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** Parses a line of an earlier version; returns undefined if a crash left the line incomplete. */
function parsed(line: string): z.infer<typeof storedEvent> | undefined {
  try {
    return storedEvent.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/**
 * Imports the logs of an earlier version, which had a folder of JSON lines for each stream. A folder is removed after its
 * events are written. If the process crashes during the import of a stream, the stream's other events are lost.
 */
export function importSegments(dir: string, store: LogStore): void {
  for (const groupFolder of foldersIn(dir)) {
    const group = decodeURIComponent(groupFolder);
    for (const streamFolder of foldersIn(join(dir, groupFolder))) {
      const name = decodeURIComponent(streamFolder);
      const folder = join(dir, groupFolder, streamFolder);
      if (store.group(group)?.get(name) === undefined) importStream(folder, store, group, name);
      rmSync(folder, { recursive: true, force: true });
    }
    rmSync(join(dir, groupFolder), { recursive: true, force: true });
  }
}

function importStream(folder: string, store: LogStore, group: string, name: string): void {
  const files = readdirSync(folder)
    .filter((file) => /^\d+\.jsonl$/.test(file))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const stream = store.createStream(group, name);
  for (const file of files) {
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      const event = parsed(line);
      if (event) store.append(stream, event[0], event[2], event[1]);
    }
  }
  store.flush();
}
