import { afterAll } from "vitest";
import { removeTemporaryFolders } from "./assembly.ts";

// Registered for each file: the files share a process, in which a module such as assembly.ts is loaded only once.
afterAll(removeTemporaryFolders);
