import { offeredShortcuts } from '../parts/shortcuts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { isMac } from './platform.ts';

/** What can be pressed on the page that is shown. */
export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const rows = [
    { keys: isMac() ? '⌘ K' : 'Ctrl K', about: 'Search everything' },
    ...offeredShortcuts(),
    { keys: 'Esc', about: 'Close what is open' },
  ];
  return (
    <Dialog open={open} onClose={onClose} title="Keys" initialFocus="title">
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2">
        {rows.map(({ keys, about }) => (
          <div key={keys} className="contents">
            <dt>{about}</dt>
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
