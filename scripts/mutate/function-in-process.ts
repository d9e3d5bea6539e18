import type { functionThread as inThread } from "../../local/lambda/function-thread.ts";

/** Replaces local/lambda/function-thread.ts while the code is changed. */
export const functionThread: typeof inThread = (path) => ({
  async handler(event, context) {
    const { handler } = await import(/* @vite-ignore */ `../../lambdas/${path}.ts`);
    return handler(event, context);
  },
  async close() {},
});
