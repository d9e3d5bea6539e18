import * as z from "zod";
import { planSchema } from "../analysis/plan.ts";

/** What the analysis hands to the image build, as `recipe.json`. It holds the values of variables: it is secret. */
export const recipeSchema = z.object({
  plan: planSchema,
  dockerfile: z.string(),
  dockerignore: z.string(),
  /** The module that serves a single-page app's files; null for apps that serve themselves. */
  staticServer: z.string().nullable(),
  /** In the order in which the Dockerfile counts them. */
  variables: z.array(z.object({ name: z.string(), value: z.string() })),
});
export type ImageRecipe = z.infer<typeof recipeSchema>;
