import * as z from "zod";
import { planSchema } from "../analysis/plan.ts";

/** The analysis result that the image build reads as `recipe.json`. It contains the values of variables: it is secret. */
export const recipeSchema = z.object({
  plan: planSchema,
  dockerfile: z.string(),
  dockerignore: z.string(),
  /** The module that serves a single-page app's files; null for apps that serve themselves. */
  staticServer: z.string().nullable(),
  /** In the order of the Dockerfile's build arguments. */
  variables: z.array(z.object({ name: z.string(), value: z.string() })),
});
export type ImageRecipe = z.infer<typeof recipeSchema>;
