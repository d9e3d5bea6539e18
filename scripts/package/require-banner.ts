/** Goes before each file of a bundle for Node.js, because CommonJS dependencies call `require` for built-in modules. */
export const requireBanner =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
