import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { curlOf } from '../../parts/curl/curl.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

/** Shows the value, this one time. It goes away only when somebody says that they have stored it. */
export function Reveal({ value, onDone }: { value: string; onDone: () => void }) {
  const [isStored, setStored] = useState(false);
  const first = useRef<HTMLHeadingElement>(null);
  // Whoever leaves by accident now would never see it again.
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return (
    <Dialog
      open
      title="Store the token now"
      description="It is shown this one time, and nobody can read it here again."
      initialFocus={first}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <h3 ref={first} tabIndex={-1} className="sr-only">
          The value
        </h3>
        <Code text={value} label="Token" wrap />
        <Code text={curlOf({ path: '/agents', isTeam: true })} label="How to use it" />
        <Checkbox checked={isStored} onChange={setStored}>
          I have stored the token
        </Checkbox>
      </div>
      <DialogActions>
        <Button look="primary" disabled={!isStored} onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
