import { useState } from 'react';

const NAME = 'home.checklist';

/** Whether whoever looks has put the checklist away, in this browser. */
export function useDismissed(): [isDismissed: boolean, dismiss: () => void] {
  const [isDismissed, setDismissed] = useState(() => read() === 'hidden');
  return [
    isDismissed,
    () => {
      setDismissed(true);
      try {
        localStorage.setItem(NAME, 'hidden');
      } catch {
        // Where storage is forbidden, it is back with the next visit.
      }
    },
  ];
}

function read(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
