import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { listenForShortcuts, useShortcuts } from '../parts/shortcuts.ts';
import { PLACES } from './navigation.ts';

/** The keys that work on every page. */
export function useGlobalKeys(show: (what: 'palette' | 'sheet') => void): void {
  const navigate = useNavigate();
  useShortcuts([
    { keys: '?', about: 'Show the keys', run: () => show('sheet') },
    { keys: '/', about: 'Search on this page', run: () => search(() => show('palette')) },
    ...PLACES.map(({ to, text, key }) => {
      return { keys: `g ${key}`, about: `Go to ${text}`, run: () => void navigate({ to }) };
    }),
  ]);
  useEffect(() => {
    const stop = listenForShortcuts();
    const hear = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      // What a dialog asks is answered before anything else. What only says something is one, too, but asks nothing.
      if (!document.querySelector('[role=dialog]:not([aria-modal=false], [data-closed])')) show('palette');
    };
    window.addEventListener('keydown', hear);
    return () => {
      stop();
      window.removeEventListener('keydown', hear);
    };
  }, [show]);
}

/** Where a page has nothing to search, everything is searched. */
function search(everything: () => void): void {
  const field = document.querySelector<HTMLElement>('main input[type=search]');
  if (field) field.focus();
  else everything();
}
