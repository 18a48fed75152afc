import { useEffect, useRef } from 'react';

/** A keyboard shortcut that works while the component that registers it is mounted. */
export interface Shortcut {
  /** `KeyboardEvent.key`, or two keys pressed in sequence, separated by a space. */
  keys: string;
  description: string;
  run: () => void;
}

const registered = new Set<{ current: readonly Shortcut[] }>();

/** Returns the shortcuts of all mounted components. */
export function activeShortcuts(): Shortcut[] {
  return Array.from(registered).flatMap(({ current }) => current);
}

/** Registers shortcuts. They are ignored in text fields and with a modifier key. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const entry = useRef(shortcuts);
  entry.current = shortcuts;
  useEffect(() => {
    registered.add(entry);
    return () => void registered.delete(entry);
  }, []);
}

/** Registers one shortcut. */
export function useShortcut(keys: string, description: string, run: () => void): void {
  useShortcuts([{ keys, description, run }]);
}

const SEQUENCE_MS = 1_000;

/** Handles key presses for all registered shortcuts. Returns a function that removes the handler. */
export function listenForShortcuts(): () => void {
  let before: { key: string; at: number } | undefined;
  function onKeyDown(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTextInput(event))
      return;
    const first = before && event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ` : '';
    const pressed = [first + event.key, event.key];
    before = { key: event.key, at: event.timeStamp };
    const shortcut = activeShortcuts().find(({ keys }) => pressed.includes(keys));
    if (!shortcut) return;
    before = undefined;
    event.preventDefault();
    shortcut.run();
  }
  window.addEventListener('keydown', onKeyDown);
  return () => window.removeEventListener('keydown', onKeyDown);
}

function isTextInput({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Dialogs and open lists handle keys themselves.
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role=dialog], [role=listbox]') !== null
  );
}
