"""Texts of a server, a model or a judge that would run or load something if a page took them for more than text."""

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "[click](javascript:alert(1))",
    "![](http://evil.example/x.png)",
    "<javascript:alert(1)>",
    "````\n<script>alert(1)</script>\n````",
    "a | b | <iframe src=//evil.example>",
    "<!-- --><style>*{display:none}</style>",
    "</pre></body><script>alert(1)</script>",
    "&lt;script&gt;&#x3c;script&#x3e;",
]
