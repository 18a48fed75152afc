import { activeShortcuts } from '../parts/navigation/shortcuts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { isMac } from './platform.ts';

/** Dialog with the keyboard shortcuts of the current page. */
export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const rows = [
    { keys: isMac() ? '⌘ K' : 'Ctrl K', description: 'Search everything' },
    ...activeShortcuts(),
    { keys: 'Esc', description: 'Close dialog or menu' },
  ];
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" initialFocus="title">
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2">
        {rows.map(({ keys, description }) => (
          <div key={keys} className="contents">
            <dt>{description}</dt>
            <dd className="flex gap-1">
              {keys.split(' ').map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
