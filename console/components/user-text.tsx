/** Text that a person or an app wrote: shown as it is, and its direction does not disturb the text around it. */
export function UserText({ children, strong, mono }: { children: string | null; strong?: boolean; mono?: boolean }) {
  const classes = [strong && "strong", mono && "mono"].filter(Boolean).join(" ");
  return (
    <bdi dir="auto" class={classes || undefined}>
      {children}
    </bdi>
  );
}
