import type * as z from "zod";
import type { Caller } from "./caller.ts";

/** What a tool answers: a sentence of the service, and data of users and apps, which is fenced. */
export interface ToolAnswer {
  note?: string;
  data?: unknown;
}

/** A tool as language models see it. */
export interface Tool {
  name: string;
  description: string;
  input: z.ZodObject;
  /** Whether it only reads; tokens made for reading see no other. */
  reads: boolean;
  /** Whether it can take away what exists. */
  destroys?: true;
  run(caller: Caller, input: Record<string, unknown>): Promise<ToolAnswer>;
}
