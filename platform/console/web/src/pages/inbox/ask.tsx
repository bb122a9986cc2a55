import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation } from "@tanstack/react-query";
import { cloneElement, useRef, type ReactElement, type ReactNode } from "react";
import { ApiError } from "../../api/client";

// Ask is a dialog before something is done: it is done by its button alone. What the server refuses is shown
// in it.
export function Ask<T>({ title, about, action, danger, off, run, onDone, onClose, children }: {
  title: ReactNode;
  about?: ReactNode;
  action: string;
  danger?: boolean;
  off?: boolean; // There is nothing to be done any more.
  run: (given: FormData) => Promise<T>;
  onDone: (result: T) => void;
  onClose: () => void;
  children?: ReactNode | ((error: unknown) => ReactNode);
}) {
  const popup = useRef<HTMLDivElement>(null);
  const doing = useMutation({ mutationFn: run, onSuccess: onDone });
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog" ref={popup}
          initialFocus={() => popup.current?.querySelector<HTMLElement>("textarea, input, select") ?? popup.current}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          {about && <AlertDialog.Description>{about}</AlertDialog.Description>}
          <form
            onSubmit={(e) => {
              e.preventDefault();
              if (!doing.isPending && !off) doing.mutate(new FormData(e.currentTarget));
            }}
          >
            {typeof children === "function" ? children(doing.error) : children}
            <Refusal error={doing.error} />
            <div className="actions">
              <AlertDialog.Close className="button" type="button">Back</AlertDialog.Close>
              <button type="submit" className={danger ? "button danger" : "button primary"} disabled={doing.isPending || off}>
                {doing.isPending ? "Sending…" : action}
              </button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

export const refusal = (error: unknown): string =>
  error instanceof ApiError ? error.detail : error instanceof Error ? error.message : "It could not be sent.";

// Refusal is why the server did not do it, with the places that it names.
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  const faults = error instanceof ApiError ? error.faults.filter((f) => f.path || f.detail !== error.detail) : [];
  return (
    <div className="error" role="alert">
      <p>{refusal(error)}</p>
      {faults.length > 0 && (
        <ul>
          {faults.map((f) => (
            <li key={f.path + f.detail}>
              {f.path && <code>{f.path}</code>} {f.detail !== (error as ApiError).detail && f.detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export const text = (given: FormData, name: string): string => String(given.get(name) ?? "").trim();

// Field is an input with its label, what is to be known of it, and what the server finds wrong with it.
export function Field({ name, label, hint, error, optional, children }: {
  name: string;
  label: string;
  hint?: ReactNode;
  error?: unknown;
  optional?: boolean;
  children: ReactElement<Record<string, unknown>>;
}) {
  const id = `f-${name}`;
  const wrong = error instanceof ApiError ? error.faults.filter((f) => f.path?.split("/")[1] === name || f.path === `body.${name}`) : [];
  const described = [hint ? `${id}-hint` : "", wrong.length ? `${id}-wrong` : ""].filter(Boolean).join(" ");
  return (
    <div className="asked">
      <label htmlFor={id}>
        {label}
        {optional && <span className="muted"> (optional)</span>}
      </label>
      {cloneElement(children, { id, name, "aria-describedby": described || undefined, "aria-invalid": wrong.length > 0 || undefined })}
      {hint && <p className="muted" id={`${id}-hint`}>{hint}</p>}
      {wrong.length > 0 && <p className="error" id={`${id}-wrong`}>{wrong.map((f) => f.detail).join("; ")}</p>}
    </div>
  );
}
