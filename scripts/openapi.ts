import { openApi } from "../api/openapi.ts";

/** Prints the API as OpenAPI 3.1: `node scripts/openapi.ts > openapi.json`. */
console.log(JSON.stringify(openApi(), null, 2));
