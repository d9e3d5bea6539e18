import * as z from "zod";
import { STATES_ERRORS } from "./errors.ts";

const jsonata = z.string().regex(/^\{%[\s\S]*%\}$/, "is neither a valid literal nor {% JSONata %}");
const comment = z.string().optional();
const common = { Comment: comment, QueryLanguage: z.literal("JSONata").optional() };
const flow = { Next: z.string().optional(), End: z.literal(true).optional() };

const VARIABLE_NAME = /^\p{ID_Start}\p{ID_Continue}*$/u;
const variableName = z
  .string()
  .max(80)
  .refine((name) => VARIABLE_NAME.test(name) && name !== "states", "is not a valid variable name");
const assign = z.record(variableName, z.json()).optional();
const output = z.json().optional();

const errorName = z
  .string()
  .min(1)
  .refine((name) => !name.startsWith("States.") || STATES_ERRORS.has(name), "is not an error of the States Language");
const errorEquals = z
  .array(errorName)
  .min(1)
  .refine((names) => !names.includes("States.ALL") || names.length === 1, "States.ALL must stand alone");

const SECONDS_MAX = 99_999_999;
const seconds = z.union([z.int().min(1).max(SECONDS_MAX), jsonata]).optional();

const retrier = z
  .strictObject({
    Comment: comment,
    ErrorEquals: errorEquals,
    IntervalSeconds: z.int().min(1).max(SECONDS_MAX).default(1),
    BackoffRate: z.number().min(1).default(2),
    MaxAttempts: z.int().min(0).max(SECONDS_MAX).default(3),
    MaxDelaySeconds: z.int().min(1).max(31_622_399).optional(),
    JitterStrategy: z.enum(["FULL", "NONE"]).default("NONE"),
  })
  .refine((retry) => retry.MaxDelaySeconds === undefined || retry.MaxDelaySeconds > retry.IntervalSeconds, {
    error: "MaxDelaySeconds must be greater than IntervalSeconds",
  });

const catcher = z.strictObject({
  Comment: comment,
  ErrorEquals: errorEquals,
  Next: z.string(),
  Assign: assign,
  Output: output,
});

const allLast = (list: { ErrorEquals: string[] }[]) =>
  list.slice(0, -1).every((entry) => !entry.ErrorEquals.includes("States.ALL"));

const task = z.strictObject({
  ...common,
  ...flow,
  Type: z.literal("Task"),
  Resource: z.string(),
  Arguments: z.json(),
  Assign: assign,
  Output: output,
  TimeoutSeconds: seconds,
  HeartbeatSeconds: seconds,
  Retry: z.array(retrier).refine(allLast, "States.ALL must be in the last retrier").default([]),
  Catch: z.array(catcher).refine(allLast, "States.ALL must be in the last catcher").default([]),
});

const choice = z.strictObject({
  ...common,
  Type: z.literal("Choice"),
  Choices: z
    .array(z.strictObject({ Comment: comment, Condition: jsonata, Next: z.string(), Assign: assign, Output: output }))
    .min(1),
  Default: z.string().optional(),
  Assign: assign,
  Output: output,
});

const wait = z
  .strictObject({
    ...common,
    ...flow,
    Type: z.literal("Wait"),
    Seconds: z.union([z.int().min(0).max(SECONDS_MAX), jsonata]).optional(),
    Timestamp: z.union([z.iso.datetime({ offset: true }), jsonata]).optional(),
    Assign: assign,
    Output: output,
  })
  .refine((state) => (state.Seconds === undefined) !== (state.Timestamp === undefined), {
    error: "needs either Seconds or Timestamp",
  });

const pass = z.strictObject({ ...common, ...flow, Type: z.literal("Pass"), Assign: assign, Output: output });
const succeed = z.strictObject({ ...common, Type: z.literal("Succeed"), Output: output });
const fail = z.strictObject({
  ...common,
  Type: z.literal("Fail"),
  Error: z.string().optional(),
  Cause: z.string().optional(),
});

/** One state of a JSONata state machine; other fields and types are refused. */
const stateSchema = z.discriminatedUnion("Type", [task, choice, wait, pass, succeed, fail]);

/** A definition in Amazon States Language with QueryLanguage JSONata, without Parallel and Map. */
export const definitionSchema = z.strictObject({
  Comment: comment,
  Version: z.literal("1.0").optional(),
  QueryLanguage: z.literal("JSONata"),
  StartAt: z.string(),
  TimeoutSeconds: z.int().min(1).max(SECONDS_MAX).optional(),
  States: z.record(z.string().min(1).max(80), stateSchema),
});

export type StateDefinition = z.infer<typeof stateSchema>;
export type Definition = z.infer<typeof definitionSchema>;
export type Retrier = z.infer<typeof retrier>;
