/** A test: its file, and its title or that of its group as the file writes it. */
type Proof = readonly [file: string, title: string];

/** The tests that prove the sentences of docs/api.md, by heading and by the beginning of the sentence, which fits no other one of its heading. */
export type Proofs = Readonly<Record<string, Readonly<Record<string, readonly Proof[]>>>>;
