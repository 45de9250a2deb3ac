#!/bin/sh
# Fetch the front-end files we ship, from the npm registry, and write their digests to static/vendor/VENDOR.json.
# Run it only to change a version; the results are committed, so building and running need no network.
# Needs npm and python3. Licences are kept beside the files.
set -eu

PICO=2.1.1
HTMX=2.0.11
LUCIDE=1.62.0

# Every icon a template may name; `icon()` refuses any other. Navigation, then states, then actions.
ICONS="hand-helping trending-up inbox scan-eye history chart-column sliders-horizontal scan-text database webhook \
send scale key-round users settings keyboard landmark flask-conical \
clock messages-square circle-check badge-check undo-2 shield-check circle-minus hourglass loader triangle-alert \
circle-dashed thumbs-up thumbs-down circle-x info circle-alert circle-question-mark \
check x menu search chevron-left chevron-right chevron-down plus pencil trash-2 download upload external-link copy \
eye eye-off lock lock-open log-out list-filter arrow-up-down skip-forward flag bookmark refresh-cw message-square \
play pause bell user hand git-compare house rows-2 rows-3"

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in "@picocss/pico@$PICO" "htmx.org@$HTMX" "lucide-static@$LUCIDE"; do
    npm pack --silent "$package" >/dev/null
done
for archive in *.tgz; do
    mkdir "${archive%.tgz}" && tar -xzf "$archive" -C "${archive%.tgz}" --strip-components=1
done

vendor="$root/static/vendor"
rm -rf "$vendor" && mkdir -p "$vendor"
# Pico goes into a cascade layer, so that any rule of static/css wins over it whatever its specificity.
pico="picocss-pico-$PICO/css/pico.fluid.classless.min.css"
{ printf '@layer pico{'; sed 's/^@charset "UTF-8";//' "$pico"; printf '}\n'; } >"$vendor/pico-$PICO.min.css"
cp "picocss-pico-$PICO/LICENSE.md" "$vendor/pico-LICENSE.md"
cp "htmx.org-$HTMX/dist/htmx.min.js" "$vendor/htmx-$HTMX.min.js"
cp "htmx.org-$HTMX/LICENSE" "$vendor/htmx-LICENSE"
cp "lucide-static-$LUCIDE/LICENSE" "$vendor/lucide-LICENSE"

export ICONS PICO HTMX LUCIDE
python3 - "$root" "lucide-static-$LUCIDE/icons" <<'PY'
import hashlib, json, os, pathlib, re, sys

root, icons = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
symbols = []
for name in sorted(os.environ["ICONS"].split()):
    source = (icons / f"{name}.svg").read_text()
    shapes = re.search(r"<svg.*?>(.*)</svg>", source, re.S).group(1)
    shapes = re.sub(r"\s*\n\s*", "", shapes).replace(" />", "/>")
    symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24">{shapes}</symbol>')
sprite = root / "static/icons.svg"
sprite.write_text(
    f"<!-- Lucide {os.environ['LUCIDE']}, ISC, see vendor/lucide-LICENSE; written by scripts/vendor.sh -->\n"
    '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"
)
shipped = [
    ("@picocss/pico", os.environ["PICO"], "MIT, wrapped in a cascade layer", f"vendor/pico-{os.environ['PICO']}.min.css"),
    ("htmx.org", os.environ["HTMX"], "0BSD", f"vendor/htmx-{os.environ['HTMX']}.min.js"),
    ("lucide-static", os.environ["LUCIDE"], "ISC", "icons.svg"),
]
(root / "static/vendor/VENDOR.json").write_text(
    json.dumps(
        [
            {
                "package": package,
                "version": version,
                "licence": licence,
                "file": file,
                "sha256": hashlib.sha256((root / "static" / file).read_bytes()).hexdigest(),
            }
            for package, version, licence, file in shipped
        ],
        indent=2,
    )
    + "\n"
)
PY
cat "$vendor/VENDOR.json"
