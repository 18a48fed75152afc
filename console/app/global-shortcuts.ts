import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { listenForShortcuts, useShortcuts } from '../parts/navigation/shortcuts.ts';
import { NAVIGATION_ITEMS } from './navigation.ts';

/** Keyboard shortcuts that work on every page. */
export function useGlobalShortcuts(show: (what: 'palette' | 'sheet') => void): void {
  const navigate = useNavigate();
  useShortcuts([
    { keys: '?', description: 'Show keyboard shortcuts', run: () => show('sheet') },
    { keys: '/', description: 'Search this page', run: () => search(() => show('palette')) },
    ...NAVIGATION_ITEMS.map(({ to, text, key }) => {
      return { keys: `g ${key}`, description: `Go to ${text}`, run: () => void navigate({ to }) };
    }),
  ]);
  useEffect(() => {
    const stop = listenForShortcuts();
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      // An open modal dialog blocks the palette. A non-modal dialog, such as a toast, does not.
      if (!document.querySelector('[role=dialog]:not([aria-modal=false], [data-closed])')) show('palette');
    };
    window.addEventListener('keydown', onKeyDown);
    return () => {
      stop();
      window.removeEventListener('keydown', onKeyDown);
    };
  }, [show]);
}

/** Focuses the search field of the page. A page without one opens the global search. */
function search(openGlobalSearch: () => void): void {
  const field = document.querySelector<HTMLElement>('main input[type=search]');
  if (field) field.focus();
  else openGlobalSearch();
}
