/*
 * style.c - what the classes of a picture look like.
 *
 * Colours are those of Okabe and Ito, which most colour-blind people tell apart, darker on white
 * and lighter on black, so that each mark has a contrast of 3 to 1 and each text of 4.5 to 1.  In
 * forced colours the system's own take their place, and shapes, dashes and numbers are left.
 */
#include "draw/draw.h"

static const char style[] =
    ".cloister{--paper:#fff;--ink:#1b1f24;--soft:#525a64;--line:#7d8590;--grid:#e4e7eb;"
    "--c0:#0072b2;--c1:#c44e00;--c2:#00805c;--c3:#b0508b;--c4:#8f6400;--c5:#3182ad;--c6:#4d4d4d;"
    "--h0:#f3f7fb;--h1:#dce9f4;--h2:#bdd6ea;--h3:#95bfdc;--h4:#67a3cb;--h5:#4086b5;--h6:#246a9b;"
    "--h7:#114f7d;--h8:#08335c;--over:#fff;--under:#1b1f24}\n"
    "@media (prefers-color-scheme:dark){.cloister{--paper:#14171b;--ink:#e8eaed;--soft:#aab2bc;"
    "--line:#7d8590;--grid:#2c3138;--c0:#56b4e9;--c1:#f08a3c;--c2:#2fc49b;--c3:#e493c1;"
    "--c4:#f0e442;--c5:#8fc7f2;--c6:#cfcfcf;--h0:#1c232b;--h1:#20303f;--h2:#224158;--h3:#245674;"
    "--h4:#2a6d92;--h5:#3a88b1;--h6:#5ba5ca;--h7:#8dc4df;--h8:#cbe6f3;--over:#0b0d10;"
    "--under:#e8eaed}}\n"
    "@media (forced-colors:active){.cloister{--paper:Canvas;--ink:CanvasText;--soft:CanvasText;"
    "--line:CanvasText;--grid:GrayText;--c0:CanvasText;--c1:CanvasText;--c2:CanvasText;"
    "--c3:CanvasText;--c4:CanvasText;--c5:CanvasText;--c6:CanvasText;--over:Canvas;"
    "--under:CanvasText;"
    "--h0:Canvas;--h1:color-mix(in srgb,CanvasText 8%,Canvas);"
    "--h2:color-mix(in srgb,CanvasText 16%,Canvas);--h3:color-mix(in srgb,CanvasText 26%,Canvas);"
    "--h4:color-mix(in srgb,CanvasText 38%,Canvas);--h5:color-mix(in srgb,CanvasText 62%,Canvas);"
    "--h6:color-mix(in srgb,CanvasText 74%,Canvas);--h7:color-mix(in srgb,CanvasText 86%,Canvas);"
    "--h8:CanvasText}}\n"
    ".cloister text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
    "sans-serif;fill:var(--ink)}\n"
    ".cloister text.s{font-size:11px;fill:var(--soft)}.cloister text.n{font-size:11px;"
    "font-weight:600}.cloister text.u{font-size:10px;fill:var(--under)}"
    ".cloister text.o{font-size:10px;fill:var(--over)}\n"
    ".cloister .paper{fill:var(--paper)}.cloister .axis{stroke:var(--line);fill:none}"
    ".cloister .grid{stroke:var(--grid);fill:none}.cloister .edge{stroke:var(--line);fill:none;"
    "stroke-dasharray:2 4}.cloister .limit{stroke:var(--ink);fill:none;stroke-dasharray:7 4}\n"
    ".cloister .area{fill:currentColor;fill-opacity:.1;stroke:currentColor;stroke-opacity:.55}"
    ".cloister .noise{stroke:currentColor;stroke-width:1.6;fill:none}"
    ".cloister .bar{fill:currentColor}.cloister .cell{stroke:none}"
    ".cloister .mark{fill:currentColor;stroke:var(--paper);stroke-width:1}"
    ".cloister .open{fill:var(--paper);stroke:currentColor;stroke-width:1.5;"
    "stroke-dasharray:2 1.5}"
    ".cloister .path{stroke:currentColor;fill:none;stroke-width:2;stroke-linejoin:round}"
    ".cloister .faint{stroke-width:1;stroke-opacity:.45}\n"
    ".cloister .d1{stroke-dasharray:6 3}.cloister .d2{stroke-dasharray:2 3}"
    ".cloister .d3{stroke-dasharray:9 3 2 3}.cloister .d4{stroke-dasharray:12 4}\n"
    ".cloister .c0{color:var(--c0)}.cloister .c1{color:var(--c1)}.cloister .c2{color:var(--c2)}"
    ".cloister .c3{color:var(--c3)}.cloister .c4{color:var(--c4)}.cloister .c5{color:var(--c5)}"
    ".cloister .c6{color:var(--c6)}\n"
    ".cloister .h0{fill:var(--h0)}.cloister .h1{fill:var(--h1)}.cloister .h2{fill:var(--h2)}"
    ".cloister .h3{fill:var(--h3)}.cloister .h4{fill:var(--h4)}.cloister .h5{fill:var(--h5)}"
    ".cloister .h6{fill:var(--h6)}.cloister .h7{fill:var(--h7)}.cloister .h8{fill:var(--h8)}\n"
    "@media print{.cloister svg,svg.cloister{print-color-adjust:exact;"
    "-webkit-print-color-adjust:exact}}\n";

void clo_i_draw_style(clo_writer *w)
{
    clo_writer_text(w, style);
}
