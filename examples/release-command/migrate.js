console.log("Migrating the schema from version 1 to version 2");
if (process.env.MIGRATION === "fails") {
  console.error("The column exists already");
  process.exit(1);
}
console.log("The schema has version 2");
