import { createServer } from "node:http";

createServer((request, response) => response.end("Schema version 2\n")).listen(process.env.PORT);
