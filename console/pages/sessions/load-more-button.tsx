import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Button } from '../../ui/button.tsx';

export interface LoadMoreButtonProps {
  isLoading: boolean;
  error: Error | undefined;
  onLoad: () => void;
  /** Button label. */
  children: string;
}

/** Button that loads further events or turns, with the error of the last attempt. */
export function LoadMoreButton({ isLoading, error, onLoad, children }: LoadMoreButtonProps) {
  return (
    <div className="flex flex-col items-center gap-2">
      <Button small busy={isLoading} onClick={onLoad}>
        {children}
      </Button>
      <ErrorAlert error={error} />
    </div>
  );
}
