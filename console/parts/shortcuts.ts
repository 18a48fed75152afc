import { useEffect, useRef } from 'react';

/** Something that a key does, as long as what offers it is shown. */
export interface Shortcut {
  /** As `KeyboardEvent.key` says it; two in a row with a space between them. */
  keys: string;
  about: string;
  run: () => void;
}

const offered = new Set<{ current: readonly Shortcut[] }>();

/** Everything that can be pressed at the moment. */
export function offeredShortcuts(): Shortcut[] {
  return Array.from(offered).flatMap(({ current }) => current);
}

/** Offers keys. Nobody is disturbed who writes, or holds a modifier. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const offer = useRef(shortcuts);
  offer.current = shortcuts;
  useEffect(() => {
    offered.add(offer);
    return () => void offered.delete(offer);
  }, []);
}

/** The same for one. */
export function useShortcut(keys: string, about: string, run: () => void): void {
  useShortcuts([{ keys, about, run }]);
}

const BETWEEN_MS = 1_000;

/** Listens to the keyboard for whatever is offered. Returns how to stop. */
export function listenForShortcuts(): () => void {
  let before: { key: string; at: number } | undefined;
  function hear(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isWriting(event)) return;
    const first = before && event.timeStamp - before.at < BETWEEN_MS ? `${before.key} ` : '';
    const pressed = [first + event.key, event.key];
    before = { key: event.key, at: event.timeStamp };
    const shortcut = offeredShortcuts().find(({ keys }) => pressed.includes(keys));
    if (!shortcut) return;
    before = undefined;
    event.preventDefault();
    shortcut.run();
  }
  window.addEventListener('keydown', hear);
  return () => window.removeEventListener('keydown', hear);
}

function isWriting({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // In front of a dialog, and in an open list, keys mean something else.
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role=dialog], [role=listbox]') !== null
  );
}
