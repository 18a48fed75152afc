import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { type PaletteCommand, usePaletteCommands } from './palette-commands.ts';

/** Command palette: searches by name or ID and runs global actions. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={(opened) => !opened && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Viewport className="fixed inset-0 z-40 flex items-start justify-center px-3 pt-[12vh]">
          <Dialog.Popup
            aria-label="Search"
            className="flex max-h-[70vh] w-full max-w-xl animate-appear flex-col overflow-hidden rounded-2xl border border-line bg-raised shadow-float"
          >
            <Commands onClose={onClose} />
            <Dialog.Close className="sr-only">Close search</Dialog.Close>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Commands({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const { groups, isSearching } = usePaletteCommands(text);
  return (
    <Autocomplete.Root
      open
      inline
      items={groups}
      // The service has already filtered the items.
      filter={null}
      value={text}
      onValueChange={setText}
      autoHighlight="always"
      keepHighlight
      itemToStringValue={({ text: shown }: PaletteCommand) => shown}
    >
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search className="size-4 shrink-0 text-muted" aria-hidden />
        <Autocomplete.Input
          aria-label="Search everything"
          placeholder="Search pages, agents, sessions and deployments, or paste an ID"
          dir="auto"
          className="h-12 w-full bg-transparent outline-none"
        />
      </div>
      <div className="min-h-0 overflow-y-auto p-1.5">
        <Autocomplete.Empty>
          <p className="px-3 py-6 text-center text-muted empty:hidden">
            {isSearching ? 'Searching…' : 'No results.'}
          </p>
        </Autocomplete.Empty>
        <Autocomplete.List aria-label="Search results">
          {(group: (typeof groups)[number]) => (
            <Autocomplete.Group key={group.value} items={group.items}>
              <Autocomplete.GroupLabel className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">
                {group.value}
              </Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {({ id, icon: Icon, text: shown, detail, run }: PaletteCommand) => (
                  <Autocomplete.Item
                    key={id}
                    value={{ id, icon: Icon, text: shown, detail, run }}
                    onClick={() => {
                      onClose();
                      run();
                    }}
                    className="flex h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 outline-none select-none data-highlighted:bg-sunken"
                  >
                    <Icon className="size-4 shrink-0 text-muted" aria-hidden />
                    <span className="min-w-0 flex-1 truncate" dir="auto">
                      {shown}
                    </span>
                    <span className="max-w-[40%] truncate font-mono text-xs text-muted">{detail}</span>
                  </Autocomplete.Item>
                )}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
      </div>
    </Autocomplete.Root>
  );
}
