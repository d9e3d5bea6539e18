import { settingsFileSchema } from "../../api/settings.ts";
import { page } from "../http/page.ts";

export const handler = page(async () => ({
  contentType: "application/schema+json",
  text: JSON.stringify(settingsFileSchema()),
  // Editors in a browser load it from their own site; it is the same for everyone.
  headers: { "access-control-allow-origin": "*" },
}));
