import { Suspense, type ComponentProps } from "react";
import { lazyPart } from "../load";
import { Loading } from "../ui/states";

// CallAnswer is a CallOutput, loaded where it is first shown.
const Loaded = lazyPart(() => import("./answer"));

export function CallAnswer(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={<Loading rows={2} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
