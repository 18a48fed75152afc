import { useState } from 'react';

const NAME = 'home.checklist';

/** Whether the user has hidden the checklist in this browser. */
export function useDismissed(): [isDismissed: boolean, dismiss: () => void] {
  const [isDismissed, setDismissed] = useState(() => read() === 'hidden');
  return [
    isDismissed,
    () => {
      setDismissed(true);
      try {
        localStorage.setItem(NAME, 'hidden');
      } catch {
        // Without access to storage, the checklist is shown again on the next visit.
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
