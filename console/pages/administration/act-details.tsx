import { Info } from 'lucide-react';
import { useState } from 'react';
import type { Act } from '../../gen/index.ts';
import { jsonText } from '../../parts/text/json.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useAdministrationSearch } from './use-administration-search.ts';

/** Dialog with all fields of an audit log entry. */
export function ActDetails({ act }: { act: Act }) {
  const [isOpen, setOpen] = useState(false);
  const { set } = useAdministrationSearch();
  const { actor_id: actor, target_id: target } = act;
  const filter = (changes: Parameters<typeof set>[0]) => {
    setOpen(false);
    set(changes);
  };
  return (
    <>
      <IconButton
        label={`Details of entry ${act.seq}`}
        icon={<Info />}
        onClick={() => setOpen(true)}
        className="-mt-1.5"
      />
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        wide
        title={`Entry ${act.seq}`}
        initialFocus="title"
      >
        <Code text={jsonText(act)} label="Audit log entry" />
        <div className="mt-3 flex flex-wrap gap-2">
          {actor && <Button onClick={() => filter({ actor })}>All actions by this user</Button>}
          {target && <Button onClick={() => filter({ target })}>All actions on this resource</Button>}
        </div>
      </Dialog>
    </>
  );
}
