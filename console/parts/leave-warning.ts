import { useEffect } from 'react';

/** Has the browser ask before the page is left, as long as something would be lost with it. */
export function useLeaveWarning(isLosing: boolean): void {
  useEffect(() => {
    if (!isLosing) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isLosing]);
}
