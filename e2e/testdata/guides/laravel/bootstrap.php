<?php

require '/usr/share/php/Illuminate/autoload.php';
require __DIR__.'/tests/TestCase.php';
