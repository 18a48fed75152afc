import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { ErrorAlert, messageOf } from '../errors/error-state.tsx';

/** An action that runs after a confirmation. */
export interface ConfirmedAction {
  title: string;
  /** The consequences of the action. */
  children: ReactNode;
  /** The verb on the button of the dialog. */
  action: string;
  /** The action can be undone by its opposite, so its button does not look dangerous. */
  isMild?: boolean;
  run: () => Promise<unknown>;
  /** The same action as an API request. */
  curl: CurlOptions;
  /** Text of the toast after success. */
  done: string;
  onDone?: () => unknown;
}

export interface ConfirmActionProps extends ConfirmedAction {
  open: boolean;
  onClose: () => void;
}

/** Confirmation dialog that runs an action and reports its result. */
export function ConfirmAction({
  open,
  onClose,
  run,
  curl,
  done,
  onDone,
  children,
  ...confirmation
}: ConfirmActionProps) {
  const isShown = useRef(open);
  useEffect(() => {
    isShown.current = open;
    return () => {
      isShown.current = false;
    };
  }, [open]);
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: () => {
      onClose();
      toast.done(done);
      return onDone?.();
    },
    onError: (error) => {
      // After the dialog was closed, a toast reports the error.
      if (!isShown.current) toast.failed('The action failed.', messageOf(error));
    },
  });
  const close = () => {
    mutation.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      {...confirmation}
      open={open}
      onClose={close}
      onConfirm={() => mutation.mutate()}
      busy={mutation.isPending}
      below={
        <>
          <CopyCurl {...curl} />
          <ErrorAlert error={mutation.error} />
        </>
      }
    >
      <div className="flex flex-col items-start gap-3">{children}</div>
    </ConfirmDialog>
  );
}
