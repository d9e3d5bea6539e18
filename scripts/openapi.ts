import { openApi } from "../api/openapi.ts";
import { settingsFileSchema } from "../api/settings.ts";

/**
 * Prints the API as OpenAPI 3.1 (`node scripts/openapi.ts > openapi.json`), or with the argument `settings` the JSON Schema of
 * `slipway.json` for editors.
 */
console.log(JSON.stringify(process.argv[2] === "settings" ? settingsFileSchema() : openApi(), null, 2));
