import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";

interface CopyProps {
  text: string;
  /** What is copied, such as "the address". */
  what: string;
}

/** A button that copies a text, and says that it did. */
export function Copy({ text, what }: CopyProps) {
  const [done, setDone] = useState<"copied" | "failed" | undefined>(undefined);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(undefined), 2_000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setDone("copied"),
      () => setDone("failed"),
    );
  };
  const shown = done === "copied" ? "Copied" : done === "failed" ? "Select and copy it" : "Copy";
  return (
    <Button kind="quiet" label={`Copy ${what}`} onClick={copy}>
      <span aria-live="polite">{shown}</span>
    </Button>
  );
}

/** A command or another text to use elsewhere, with a button that copies it. */
export function Snippet({ text, what }: CopyProps) {
  return (
    <div class="snippet">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} what={what} />
    </div>
  );
}
