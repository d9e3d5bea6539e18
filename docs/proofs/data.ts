import type { Proofs } from "./proof.ts";

const addresses = "test/api/storage/addresses.test.ts";
const apiPage = "test/unit/docs/api-page.test.ts";
const conversions = "test/api/tables/conversions.test.ts";
const deletion = "test/api/organizations/deletion.test.ts";
const followsItsObject = "test/api/storage/follows-its-object.ts";
const lists = "test/api/storage/lists.test.ts";
const prepareFiles = "test/api/storage/prepare-files.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const samples = "test/api/samples.test.ts";
const schema = "test/api/tables/schema.test.ts";
const tablesRows = "test/api/tables/rows.test.ts";
const values = "test/unit/lambdas/tables/values.test.ts";

export const dataProofs: Proofs = {
  Tables: {
    "Below `/organizations/{orgId}/databases/{dbId}/tables`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "A table is": [[schema, "carry the managed columns and all six fields of each column"]],
    "A column is": [[schema, "carry the managed columns and all six fields of each column"]],
    "| `GET` |": [[schema, "are listed in one statement, however many there are"]],
    "| `POST` |": [
      [schema, "carry the managed columns and all six fields of each column"],
      [schema, "need no columns of their own"],
    ],
    "| `PUT /{tableName}`": [
      [schema, "as a dry run says what it would do, and does nothing"],
      [schema, "drops, renames, modifies, adds, orders and comments, each step seeing what the one before left"],
    ],
    "| `DELETE /{tableName}`": [[schema, "are gone for good when deleted, and their name is free"]],
  },
  Columns: {
    "`type` is `string`": [
      [schema, "carry the managed columns and all six fields of each column"],
      [values, "%s %j is written as %j"],
      [values, "%s %j is refused"],
    ],
    "`nullable` is true": [[schema, "carry the managed columns and all six fields of each column"]],
    "`text` and `json`": [[schema, "bad definitions are refused with the field at fault"]],
    "The default of": [[schema, "bad definitions are refused with the field at fault"]],
    "An integer lies": [
      [values, "%s %j is refused"],
      [schema, "bad definitions are refused with the field at fault"],
    ],
    "`id` (integer, unique,": [
      [schema, "carry the managed columns and all six fields of each column"],
      [schema, "cannot be the managed %s"],
    ],
    "Names of tables": [
      [schema, "may have 63 characters, and never conflict with the service's own names"],
      [schema, "cannot be %j"],
    ],
    "Names that differ": [[schema, "differ in more than case"]],
    "A comment has": [
      [schema, "201 columns"],
      [schema, "bad definitions are refused with the field at fault"],
    ],
  },
  "Changing a table": {
    "`drop: [name]`, `rename:": [
      [schema, "drops, renames, modifies, adds, orders and comments, each step seeing what the one before left"],
      [schema, "that fails with %i leaves the table byte for byte as it was: %j"],
    ],
    "Each sees the": [
      [schema, "drops, renames, modifies, adds, orders and comments, each step seeing what the one before left"],
      [schema, "swaps and rotates names, keeping every value"],
    ],
    "An added column": [[schema, "adds columns after the existing ones and before created_at"]],
    "A table or": [
      [schema, "gets the 404 of a table before the 400 of a body"],
      [schema, "that fails with %i leaves the table byte for byte as it was: %j"],
    ],
    "A table that": [
      [schema, "that fails with %i leaves the table byte for byte as it was: %j"],
      [schema, "of the same name happens once: of two tables created at once, one is"],
    ],
    "Existing data that": [
      [schema, "that fails with %i leaves the table byte for byte as it was: %j"],
      [schema, "names the row and the field that stand in its way"],
    ],
    "That is a": [
      [schema, "conversions keep the data or refuse"],
      [conversions, "any %s becomes a %s whole, or is refused"],
      [schema, "cannot make a row larger than a row may be: %s"],
    ],
    "`?dryRun=true` (extension) changes": [[schema, "as a dry run says what it would do, and does nothing"]],
  },
  Rows: {
    "Extension, below `/tables/{tableName}/rows`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "A row holds": [[tablesRows, "holds every column under its name, in the table's order"]],
    "An unknown column,": [
      [tablesRows, "refuses %s = %s"],
      [tablesRows, "is not made of %s"],
      [tablesRows, "obeys required, default and unique, as the database has them"],
    ],
    "A duplicate: 409": [[tablesRows, "obeys required, default and unique, as the database has them"]],
    "A row has": [[tablesRows, "has at most 400,000 bytes, however they come together"]],
    "A `json` value": [
      [tablesRows, "gives back %s = %j as it was given"],
      [conversions, "of 256 levels, any characters and exact numbers becomes json"],
      [conversions, "that JavaScript cannot hold whole is refused, naming column and rule: %#"],
      [conversions, "may hold a key again in another object, and any number that is exact"],
    ],
    "A cursor belongs": [[tablesRows, "take no cursor of an earlier table of the same name"]],
    "| `GET` |": [
      [tablesRows, "come by id, a page at a time, each page in one statement"],
      [tablesRows, "come in smaller pages when they are large, and all of them come"],
      [tablesRows, "take a cursor of this list only, and a limit in its range"],
    ],
    "| `POST` |": [
      [tablesRows, "holds every column under its name, in the table's order"],
      [tablesRows, "obeys required, default and unique, as the database has them"],
    ],
    "| `GET /{rowId}`": [
      [tablesRows, "holds every column under its name, in the table's order"],
      [tablesRows, "has no id %s"],
    ],
    "| `PUT /{rowId}`": [[tablesRows, "changes only in the columns that an update names, and in updated_at"]],
    "| `DELETE /{rowId}`": [[tablesRows, "is gone when deleted"]],
  },
  Storage: {
    "Below `/organizations/{orgId}/storages`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "A file is": [
      [lists, "is newest first, each request's files in the order as sent, 50 unless told"],
      [prepareFiles, "answers 201 with pending entries and an address each, in the order as sent"],
    ],
    "`path` equals the": [
      [lists, "is newest first, each request's files in the order as sent, 50 unless told"],
      [addresses, "lives for its whole hour and not longer, and cannot be turned into anything else"],
    ],
    "Until something is": [
      [followsItsObject, "the event of an upload makes the entry active, with its size"],
      [followsItsObject, "a lost event never shows on a single read, of an upload or of an overwrite"],
    ],
    "`error` is null.": [[lists, "is newest first, each request's files in the order as sent, 50 unless told"]],
    "One request prepares": [
      [prepareFiles, "is refused with 400 for %s, every broken rule named, and makes nothing"],
      [prepareFiles, "answers 201 with pending entries and an address each, in the order as sent"],
    ],
    "A name has": [
      [prepareFiles, "takes names of 1 and 128 characters, an emoji being one, and a mime of 255"],
      [prepareFiles, "is refused with 400 for %s, every broken rule named, and makes nothing"],
    ],
    "Breaking a rule": [[prepareFiles, "is refused with 400 for %s, every broken rule named, and makes nothing"]],
    "Upload: PUT the": [
      [addresses, "takes the file's bytes again and again, with its Content-Type and no other header"],
      [addresses, "is refused with another Content-Type, key, method or signature"],
      [addresses, "lives for its whole hour and not longer"],
    ],
    "As long as": [[addresses, "takes the file's bytes again and again, with its Content-Type and no other header"]],
    "An address is": [[addresses, "is given while the file is pending too, and then storage has nothing"]],
    "Every single read": [
      [addresses, "lives for its whole hour and not longer, and cannot be turned into anything else"],
      [addresses, "is given while the file is pending too, and then storage has nothing"],
    ],
    "Deleting is final:": [
      [followsItsObject, "an upload through the address of a deleted file is removed and brings nothing back"],
    ],
    "| `GET` |": [[lists, "holds the organization's own, oldest first, with the fields of the contract"]],
    "| `POST` |": [[projects, "%s are made, listed oldest first and renamed, at most 50"]],
    "| `DELETE /{storageId}`": [[deletion, "is refused while it holds a file of any status, and then final"]],
    "| `PUT /{storageId}`": [[projects, "%s are made, listed oldest first and renamed, at most 50"]],
    "| `GET /{storageId}/files`": [
      [lists, "is newest first, each request's files in the order as sent, 50 unless told"],
      [lists, "pages by %i without gap or repetition"],
      [lists, "refuses the limit %j"],
    ],
    "| `POST /{storageId}/files`": [
      [prepareFiles, "answers 201 with pending entries and an address each, in the order as sent"],
    ],
    "| `GET /{storageId}/files/{fileId}`": [
      [addresses, "is given while the file is pending too, and then storage has nothing"],
    ],
    "| `DELETE /{storageId}/files/{fileId}`": [
      [
        followsItsObject,
        "an interrupted deletion can be repeated, and the entry shows no stored object in the meantime",
      ],
      [samples, "%s: its samples work"],
    ],
  },
};
