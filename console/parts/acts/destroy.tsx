import { useMutation } from '@tanstack/react-query';
import { cloneElement, type ReactElement, type ReactNode, useState } from 'react';
import { Confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { Problem } from '../faults/failure.tsx';

export interface DestroyProps {
  /** The button that asks for it. */
  button: ReactElement<{ onClick?: () => void }>;
  title: string;
  /** What it means. */
  children: ReactNode;
  /** The verb on the button of the dialog. */
  action: string;
  /** What it does can be undone by the opposite. */
  isMild?: boolean;
  run: () => Promise<unknown>;
  /** The same as a request. */
  curl: CurlOptions;
  /** What is said when it is done. */
  done: string;
  onDone: () => void;
}

/** Asks before something is done that means much, does it, and says so. */
export function Destroy({ button, title, children, action, isMild, run, curl, done, onDone }: DestroyProps) {
  const [isOpen, setOpen] = useState(false);
  const doing = useMutation({
    mutationFn: run,
    onSuccess: () => {
      setOpen(false);
      toast.done(done);
      onDone();
    },
  });
  return (
    <>
      {cloneElement(button, {
        onClick: () => {
          doing.reset();
          setOpen(true);
        },
      })}
      <Confirm
        open={isOpen}
        onClose={() => setOpen(false)}
        title={title}
        action={action}
        isMild={isMild ?? false}
        onConfirm={() => doing.mutate()}
        busy={doing.isPending}
        failure={<Problem error={doing.error} />}
      >
        <div className="flex flex-col items-start gap-3">
          {children}
          <CopyCurl {...curl} />
        </div>
      </Confirm>
    </>
  );
}
