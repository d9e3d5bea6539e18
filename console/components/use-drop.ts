import { useState } from "preact/hooks";

/** Makes an element take what is dropped on it: give it `handlers`. `isOver` says whether something is held over it. */
export function useDrop(onDrop: (transfer: DataTransfer) => void) {
  const [isOver, setOver] = useState(false);
  const handlers = {
    onDragOver(event: DragEvent) {
      // The browser would open the file otherwise.
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault();
      setOver(false);
      if (event.dataTransfer) onDrop(event.dataTransfer);
    },
  };
  return { isOver, handlers };
}
