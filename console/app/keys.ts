import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { listenForShortcuts, useShortcut } from '../parts/shortcuts.ts';
import { PLACES } from './navigation.ts';

/** The keys that work on every page. */
export function useGlobalKeys(show: (what: 'palette' | 'sheet') => void): void {
  const navigate = useNavigate();
  useShortcut('?', 'Show the keys', () => show('sheet'));
  useShortcut('/', 'Search on this page', () => {
    const field = document.querySelector<HTMLElement>('main input[type=search]');
    if (field) field.focus();
    else show('palette');
  });
  for (const { to, text, key } of PLACES) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the places never change
    useShortcut(`g ${key}`, `Go to ${text}`, () => void navigate({ to }));
  }
  useEffect(() => {
    const stop = listenForShortcuts();
    const hear = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      // What a dialog asks is answered before anything else. What only says something is one, too, but asks nothing.
      if (!document.querySelector('[role=dialog]:not([aria-modal=false])')) show('palette');
    };
    window.addEventListener('keydown', hear);
    return () => {
      stop();
      window.removeEventListener('keydown', hear);
    };
  }, [show]);
}
