import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { messageOf, Problem } from '../faults/failure.tsx';

/** Something that is done once it is confirmed. */
export interface Act {
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
  onDone?: () => unknown;
}

export interface ConfirmActProps extends Act {
  open: boolean;
  onClose: () => void;
}

/** Asks before something is done that means much, does it, and says so. */
export function ConfirmAct({ open, onClose, run, curl, done, onDone, children, ...asked }: ConfirmActProps) {
  const isShown = useRef(open);
  useEffect(() => {
    isShown.current = open;
    return () => {
      isShown.current = false;
    };
  }, [open]);
  const doing = useMutation({
    mutationFn: run,
    onSuccess: () => {
      onClose();
      toast.done(done);
      return onDone?.();
    },
    onError: (error) => {
      // Whoever has closed the dialog meanwhile hears of it elsewhere.
      if (!isShown.current) toast.failed('That was not done.', messageOf(error));
    },
  });
  const close = () => {
    doing.reset();
    onClose();
  };
  return (
    <Confirm
      {...asked}
      open={open}
      onClose={close}
      onConfirm={() => doing.mutate()}
      busy={doing.isPending}
      below={
        <>
          <CopyCurl {...curl} />
          <Problem error={doing.error} />
        </>
      }
    >
      <div className="flex flex-col items-start gap-3">{children}</div>
    </Confirm>
  );
}
